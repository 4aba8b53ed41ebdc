/** The steps of a deployment as they happen, with the live log. */
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "~/api/client";
import * as ask from "~/api/queries";
import { LogView } from "~/features/logs/log-view";
import { statusOf } from "~/features/model/status";
import { plural } from "~/format/numbers";
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

/** The state of a run as three steps: checked, installed, running. A run that crashed is not done. */
export function stepsOf(state: string | undefined, restarts = 0): [Step, Step, Step] {
  if (state === undefined || state === "pending" || state === "installing")
    return ["done", "now", "later"];
  if (state === "failed") return ["done", "failed", "later"];
  if (state === "crashed") return ["done", "done", "failed"];
  if (state === "unreachable") return ["done", "done", "now"];
  if (state === "restarting" || (state === "running" && restarts > 0))
    return ["done", "done", "failed"];
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
    : stepsOf(run?.state, run?.restarts);
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
              ? crashWords(run?.state, run?.restarts ?? 0)
              : isScheduled
                ? "The model is scheduled"
                : "The model is running"}
          </StepLine>
        </ol>
        {(status.tone === "bad" || status.tone === "warn") && status.detail ? (
          <div className="mt-3 [overflow-wrap:anywhere]">
            <Notice tone={status.tone}>{status.detail}</Notice>
          </div>
        ) : (
          running === "failed" && (
            <LastCrash model={deployed.modelId} restarts={run?.restarts ?? 0} />
          )
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

export function crashWords(state: string | undefined, restarts: number): string {
  if (state === "crashed") return "The model crashed and was given up";
  const times = `${plural(restarts, "time")} so far`;
  return state === "restarting"
    ? `The model crashed, ${times}, and is about to be restarted`
    : `The model crashed, ${times}, and was restarted`;
}

/** While a model is restarted, its run has no reason yet; its standard error has. */
function LastCrash({ model, restarts }: { model: string; restarts: number }) {
  const { data: said } = useQuery(ask.lastError(model, restarts));
  if (!said) return null;
  return (
    <div className="mt-3 [overflow-wrap:anywhere]">
      <Notice tone="bad">{said}</Notice>
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
