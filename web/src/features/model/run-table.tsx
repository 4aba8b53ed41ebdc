/** The runs of a model: a row each, or their parts below each other where there is no room. */
import type { Schemas } from "~/api/client";
import { integer } from "~/format/numbers";
import { lasting } from "~/format/times";
import { StackedCell, StackedTable } from "~/ui/tables/stacked-table";
import { Time } from "~/ui/time";

const HEADS = ["Run", "Version", "Kind", "Started", "Duration", "Restarts", "Reason"];
const ROW =
  "grid grid-cols-2 items-baseline gap-x-4 gap-y-1 px-4 py-1.5 @[60rem]:grid-cols-[9.5rem_4rem_5rem_10rem_5rem_5rem_minmax(0,1fr)]";

export function RunTable({ runs }: { runs: Schemas["ShownRun"][] }) {
  const onSeveral = new Set(runs.map((run) => run.host).filter(Boolean)).size > 1;
  return (
    <StackedTable label="Runs" heads={HEADS} row={ROW} from="60rem" texts={HEADS}>
      {runs.map((run) => (
        <div role="row" key={run.run_id} className={ROW}>
          <Name run={run} withHost={onSeveral} />
          <Cell name="Version">v{run.version ?? "–"}</Cell>
          <Cell name="Kind">{run.kind}</Cell>
          <Cell name="Started">
            <Time at={run.started_at ?? run.created_at} as="stamp" />
          </Cell>
          <Cell name="Duration">
            {run.started_at && run.ended_at ? lasting(run.ended_at - run.started_at) : "–"}
          </Cell>
          <Cell name="Restarts">{integer(run.restarts)}</Cell>
          {run.reason && (
            <Cell name="Reason" className="text-soft @max-[60rem]:col-span-full">
              <bdi>{run.reason}</bdi>
            </Cell>
          )}
        </div>
      ))}
    </StackedTable>
  );
}

/** Its state, and its id, by which the reasons of other runs name it. */
function Name({ run, withHost }: { run: Schemas["ShownRun"]; withHost: boolean }) {
  const isBad = run.state === "crashed" || run.state === "failed";
  return (
    <span role="rowheader" className="min-w-0">
      <span className={`font-medium ${isBad ? "text-bad" : ""}`}>{run.state}</span>
      <code className="block font-mono text-xs [overflow-wrap:anywhere] text-soft">
        {run.run_id}
      </code>
      {withHost && run.host && (
        <span className="block text-xs text-soft">
          on <code className="font-mono [overflow-wrap:anywhere]">{run.host}</code>
        </span>
      )}
    </span>
  );
}

function Cell({
  name,
  className = "",
  children,
}: {
  name: string;
  className?: string;
  children: React.ReactNode;
}) {
  return (
    <StackedCell name={name} from="60rem" isText className={className}>
      {children}
    </StackedCell>
  );
}
