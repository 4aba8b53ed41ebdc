/** The runs of a model: a row each, or their parts below each other where there is no room. */
import type { Schemas } from "~/api/client";
import { integer } from "~/format/numbers";
import { lasting } from "~/format/times";
import { StackedCell, StackedTable } from "~/ui/tables/stacked-table";
import { Time } from "~/ui/time";

const HEADS = ["State", "Version", "Kind", "Started", "Duration", "Restarts", "Reason"];
const ROW =
  "grid grid-cols-2 items-baseline gap-x-4 gap-y-1 px-4 py-1.5 @[48rem]:grid-cols-[5rem_4rem_5rem_10rem_5rem_5rem_minmax(0,1fr)]";

export function RunTable({ runs }: { runs: Schemas["ShownRun"][] }) {
  return (
    <StackedTable label="Runs" heads={HEADS} row={ROW} from="48rem" texts={HEADS}>
      {runs.map((run) => (
        <div role="row" key={run.run_id} className={ROW}>
          <span
            role="rowheader"
            className={`font-medium ${run.state === "crashed" || run.state === "failed" ? "text-bad" : ""}`}
          >
            {run.state}
          </span>
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
            <Cell name="Reason" className="text-soft @max-[48rem]:col-span-full">
              <bdi>{run.reason}</bdi>
            </Cell>
          )}
        </div>
      ))}
    </StackedTable>
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
    <StackedCell name={name} from="48rem" isText className={className}>
      {children}
    </StackedCell>
  );
}
