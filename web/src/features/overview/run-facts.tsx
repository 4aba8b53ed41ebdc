/** A model's run: state, uptime, memory and CPU use, plan and isolation. */
import { useQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";
import { statusOf } from "~/features/model/status";
import { bytes, cores, integer, memory as planMemory } from "~/format/numbers";
import { lasting, utc } from "~/format/times";
import { Meter } from "~/ui/figures";
import { Empty, Fact, Notice, Panel } from "~/ui/panel";
import { Time, useNow } from "~/ui/time";

export function RunFacts({ model }: { model: ask.Model }) {
  const { run } = model;
  const { data: plans } = useQuery(ask.plans);
  if (!run) {
    return (
      <Panel title="Run">
        <Empty title="Not deployed yet">
          {model.lifecycle.running
            ? "This model runs elsewhere and reports here."
            : "Deploy a zip, or report from your own program with this model's id."}
        </Empty>
      </Panel>
    );
  }
  const plan = plans?.[run.plan];
  const status = statusOf(run, model.lifecycle);
  const known = !run.silent_host && !run.hold; // its last sample says nothing about now
  return (
    <Panel
      title="Run"
      aside={<span className="num text-sm text-soft">version {run.version ?? "–"}</span>}
    >
      {status.detail && (status.tone === "bad" || status.tone === "warn") && (
        <div className="mb-3 [overflow-wrap:anywhere]">
          <Notice tone={status.tone}>{status.detail}</Notice>
        </div>
      )}
      <dl className="grid grid-cols-2 gap-x-4 gap-y-2.5">
        <Fact name="State">{run.state}</Fact>
        <Fact name={run.ended_at ? "Ended" : "Up for"}>
          {run.ended_at ? (
            <Time at={run.ended_at} />
          ) : (
            <Uptime since={known ? (run.started_at ?? null) : null} />
          )}
        </Fact>
        <Fact name="Memory" hint={plan ? `of ${planMemory(plan.ram)} in plan ${run.plan}` : ""}>
          <Meter
            used={known ? (run.memory ?? null) : null}
            most={plan ? plan.ram * 1024 * 1024 : null}
            text={bytes(known ? run.memory : null)}
          />
        </Fact>
        <Fact name="CPU" hint={plan ? `of ${plan.cpu / 1000} cores in plan ${run.plan}` : ""}>
          <Meter
            used={known ? (run.cpu ?? null) : null}
            most={plan ? plan.cpu / 1000 : null}
            text={cores(known ? run.cpu : null)}
          />
        </Fact>
        <Fact name="Restarts">
          <span className={run.restarts ? "text-warn" : ""}>{integer(run.restarts)}</span>
        </Fact>
        <Fact
          name="Fence"
          hint="A number that rises with each start. Events from an older instance are rejected."
        >
          {integer(run.fence)}
          {run.refused > 0 && <span className="text-warn"> · {integer(run.refused)} rejected</span>}
        </Fact>
        <Fact name="Plan">{run.plan}</Fact>
        <Fact name="Python">{run.python_version}</Fact>
        {run.host && (
          <Fact name="Host" hint="The machine that runs it.">
            <code className="font-mono text-sm [overflow-wrap:anywhere]">{run.host}</code>
          </Fact>
        )}
        {run.schedule && (
          <Fact name="Schedule (UTC)">
            <code className="font-mono text-sm">{run.schedule}</code>
          </Fact>
        )}
        {run.next_run_at && (
          <Fact name="Next run">
            <Time at={run.next_run_at} />
          </Fact>
        )}
        {run.exit_code != null && <Fact name="Exit code">{run.exit_code}</Fact>}
        <div className="col-span-2">
          <dt className="text-xs text-soft">Isolation</dt>
          <dd className="text-sm [overflow-wrap:anywhere]">{run.confinement || "–"}</dd>
        </div>
      </dl>
    </Panel>
  );
}

/** Usage against quotas, also for models that run elsewhere. */
export function UsageFacts({ model }: { model: ask.Model }) {
  const { tape, pushed, captured } = model.usage;
  return (
    <Panel title="Usage">
      <dl className="grid grid-cols-2 gap-x-4 gap-y-2.5">
        <Fact name="Tape" hint={`of ${bytes(tape.quota)} for events and backtest results`}>
          <Meter used={tape.used} most={tape.quota} text={bytes(tape.used)} />
        </Fact>
        <Fact name="Events this minute" hint={`of ${bytes(pushed.quota)} a minute`}>
          <Meter used={pushed.used} most={pushed.quota} text={bytes(pushed.used)} />
        </Fact>
        <Fact name="Output this minute" hint={`of ${bytes(captured.quota)} a minute`}>
          <Meter used={captured.used} most={captured.quota} text={bytes(captured.used)} />
        </Fact>
      </dl>
    </Panel>
  );
}

function Uptime({ since }: { since: number | null }) {
  const now = useNow(1);
  return since === null ? "–" : <span title={`Since ${utc(since)}`}>{lasting(now - since)}</span>;
}
