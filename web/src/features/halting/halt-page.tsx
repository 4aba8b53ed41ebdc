/** A halt, model by model: stopped and how that is known, or why it is not known. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { isMissing } from "~/api/problem";
import { useTitle } from "~/ui/address";
import { Icon } from "~/ui/icons";
import { NotFound } from "~/ui/page-error";
import { Empty, Failed, Notice, PageHead, Panel, Skeleton } from "~/ui/panel";
import { TableFile } from "~/ui/tables/table-file";
import { Time } from "~/ui/time";
import { HaltButton } from "./halt-button";
import { type Halt, halt, type Outcome, type Scope } from "./queries";
import { ResumeButton } from "./resume-button";
import { proofs, STATES, summary } from "./words";

export function ProjectHaltPage() {
  const { project = "" } = useParams({ strict: false });
  return <HaltPage project={project} />;
}

/** Of everything, for operators. */
export function ServerHaltPage() {
  return <HaltPage project={null} />;
}

function HaltPage({ project }: { project: Scope }) {
  const { data, error, refetch } = useQuery(halt(project));
  useTitle("Halt");
  if (isMissing(error)) return <NotFound />;
  return (
    <>
      <PageHead
        title="Halt"
        lead={`Stops every model ${project === null ? "on this server" : "of this project"}, and proves it`}
        actions={
          data?.in_force && (data.project_id !== null || project === null) ? (
            <ResumeButton project={project} />
          ) : (
            <HaltButton project={project} label="Stop every model" />
          )
        }
      />
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton rows={6} />
      ) : data === null ? (
        <Panel>
          <Empty title="Nothing was ever halted here">
            A halt stops all models side by side, shows for each one the proof that it is stopped,
            and keeps all of them from starting until somebody resumes.
          </Empty>
        </Panel>
      ) : (
        <Shown halt={data} />
      )}
    </>
  );
}

function Shown({ halt }: { halt: Halt }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <Notice tone={halt.in_force ? "bad" : "info"}>
        <p dir="auto" className="[overflow-wrap:anywhere]">
          {halt.project_id === null && "Everything on this server was halted. "}
          Halted <Time at={halt.at} /> by <bdi>{halt.by}</bdi>
          {halt.why && (
            <>
              : <bdi>{halt.why}</bdi>
            </>
          )}
          {"."}
          {halt.resumed_at !== null && (
            <>
              {" "}
              Resumed <Time at={halt.resumed_at} /> by <bdi>{halt.resumed_by}</bdi>.
            </>
          )}
        </p>
        <p className="font-medium" aria-live="polite">
          {summary(halt)}
        </p>
      </Notice>
      {halt.models.length > 0 && (
        <Panel
          title="Models"
          aside={
            <TableFile
              name="Halt"
              columns={[
                ["model", (one: Outcome) => one.model],
                ["model id", (one: Outcome) => one.model_id],
                ["run", (one: Outcome) => one.run_id ?? ""],
                ["host", (one: Outcome) => one.host ?? ""],
                ["state", (one: Outcome) => STATES[one.state]],
                ["stopped at", (one: Outcome) => one.stopped_at ?? ""],
                ["how", (one: Outcome) => one.how ?? one.why ?? ""],
                ["proof", (one: Outcome) => proofs(one).join(" ")],
              ]}
              rows={halt.models}
            />
          }
          flush
        >
          <ul className="divide-y divide-line">
            {halt.models.map((one) => (
              <Row key={`${one.model_id} ${one.run_id}`} outcome={one} />
            ))}
          </ul>
        </Panel>
      )}
    </div>
  );
}

const TONES: Record<Outcome["state"], string> = {
  stopped: "text-good",
  stopping: "text-warn",
  unknown: "text-bad",
};

function Row({ outcome }: { outcome: Outcome }) {
  const { state, how, why, stopped_at } = outcome;
  return (
    <li className="grid gap-x-4 gap-y-1 px-4 py-2.5 md:grid-cols-[minmax(0,16rem)_minmax(0,14rem)_minmax(0,1fr)]">
      <Link
        to="/$project/$model/overview"
        params={{ project: outcome.project_id, model: outcome.model_id }}
        dir="auto"
        className="link [overflow-wrap:anywhere]"
      >
        {outcome.model}
      </Link>
      <span className="min-w-0">
        <span className={`flex items-center gap-1.5 font-medium ${TONES[state]}`}>
          <Icon name={state === "stopped" ? "check" : state === "unknown" ? "warn" : "stop"} />
          {STATES[state]}
        </span>
        {stopped_at !== null && (
          <span className="text-sm text-soft">
            <Time at={stopped_at} />
          </span>
        )}
      </span>
      <span className="min-w-0 text-soft [overflow-wrap:anywhere]">
        {why ?? how}
        {proofs(outcome).map((one) => (
          <span key={one} className="block">
            {one}
          </span>
        ))}
      </span>
    </li>
  );
}
