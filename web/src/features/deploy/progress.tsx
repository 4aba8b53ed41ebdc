/** The steps of a deployment as they happen, with the live log. */
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "~/api/client";
import * as ask from "~/api/queries";
import { LogView } from "~/features/logs/log-view";
import { statusOf } from "~/features/model/status";
import { LiveModel } from "~/live/use-live";
import { Button, ButtonLink } from "~/ui/button";
import { Icon } from "~/ui/icons";
import { Notice, Panel } from "~/ui/panel";

export function Progress({
  deployed,
  again,
}: {
  deployed: Schemas["Deployed"];
  again: () => void;
}) {
  return (
    <LiveModel model={deployed.modelId}>
      <Steps deployed={deployed} again={again} />
    </LiveModel>
  );
}

const SILENT = { message: null, start_at: null, end_at: null, running: null };

type Step = "done" | "now" | "later" | "failed";

/** The state of a run as three steps: checked, installed, running. */
export function stepsOf(state: string | undefined): [Step, Step, Step] {
  if (state === undefined || state === "pending" || state === "installing")
    return ["done", "now", "later"];
  if (state === "failed") return ["done", "failed", "later"];
  if (state === "crashed") return ["done", "done", "failed"];
  return ["done", "done", "done"];
}

function Steps({ deployed, again }: { deployed: Schemas["Deployed"]; again: () => void }) {
  const { data: runs } = useQuery({
    ...ask.model(deployed.modelId),
    select: (model) => ({ model, run: model.run }),
  });
  const latest = useQuery({
    queryKey: ["model", deployed.modelId, "runs", deployed.runId],
    queryFn: ask.oneRun(deployed.modelId, deployed.runId),
  });
  const run = latest.data ?? runs?.run;
  const isScheduled = Boolean(run?.schedule) && run?.state === "pending";
  const [checked, installed, running] = isScheduled
    ? (["done", "done", "done"] as const)
    : stepsOf(run?.state);
  const status = statusOf(run, runs?.model.lifecycle ?? SILENT);
  const params = { project: deployed.projectId, model: deployed.modelId };
  return (
    <div className="grid gap-4">
      <Panel>
        <ol className="grid gap-2" aria-live="polite">
          <StepLine step={checked}>Version {deployed.version} was checked and stored</StepLine>
          <StepLine step={installed}>
            {installed === "failed"
              ? "The packages could not be installed"
              : "Packages are installed"}
          </StepLine>
          <StepLine step={running}>
            {running === "failed"
              ? "The model crashed"
              : isScheduled
                ? "The model is scheduled"
                : "The model is running"}
          </StepLine>
        </ol>
        {status.tone === "bad" && status.detail && (
          <div className="mt-3">
            <Notice tone="bad">{status.detail}</Notice>
          </div>
        )}
        <div className="mt-4 flex flex-wrap gap-2">
          <ButtonLink to="/$project/$model/overview" params={params} weight="main">
            Open the model
          </ButtonLink>
          <Button onClick={again}>Deploy another</Button>
        </div>
      </Panel>
      <Panel title="Log" flush>
        <LogView model={deployed.modelId} brief />
      </Panel>
    </div>
  );
}

const LOOKS: Record<Step, string> = {
  done: "text-good",
  now: "text-warn animate-pulse",
  later: "text-soft",
  failed: "text-bad",
};
const WORDS: Record<Step, string> = {
  done: "done",
  now: "in progress",
  later: "not started",
  failed: "failed",
};

function StepLine({ step, children }: { step: Step; children: React.ReactNode }) {
  return (
    <li className={`flex items-center gap-2.5 ${step === "later" ? "text-soft" : ""}`}>
      <Icon
        name={step === "done" ? "check" : step === "failed" ? "close" : "clock"}
        className={LOOKS[step]}
      />
      <span>{children}</span>
      <span className="sr-only">: {WORDS[step]}</span>
    </li>
  );
}
