/** Models as cards, which fit a phone and show more of each model. */
import type { Wish } from "~/features/model/actions";
import { StatusBadge } from "~/features/model/status-badge";
import { Time } from "~/ui/time";
import { Actions, Curve, LastError, NameLink, Ordered, Profit } from "./cells";
import { useDeferredRows } from "./deferred-rows";
import { byUrgency, type Row } from "./fleet";

export function ModelCards({ rows, ask }: { rows: Row[]; ask: (wish: Wish) => void }) {
  const shown = useDeferredRows(rows.toSorted(byUrgency));
  return (
    <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,19rem),1fr))] gap-3 p-3">
      {shown.map((row) => (
        <li
          key={row.model.id}
          className="grid min-w-0 grid-cols-[minmax(0,1fr)] content-start gap-2 rounded-lg border border-line p-3.5 pr-2"
        >
          <div className="flex items-start justify-between gap-2">
            <div className="min-w-0">
              <h2 className="text-base">
                <NameLink row={row} />
              </h2>
              <StatusBadge status={row.status} />
            </div>
            <Actions row={row} ask={ask} />
          </div>
          <LastError row={row} />
          <div className="flex flex-wrap items-end justify-between gap-3 pr-2">
            <Profit row={row} className="text-xl" />
            <Curve model={row.model.id} width={112} />
          </div>
          <div className="flex min-w-0 flex-wrap justify-between gap-x-3 border-t border-line pt-2 pr-2 text-sm">
            {row.model.last_order ? (
              <span className="min-w-0" title="The last order to arrive">
                <Ordered order={row.model.last_order} />
              </span>
            ) : (
              <span className="text-soft">No orders yet</span>
            )}
            <span className="text-soft">
              {row.run?.version ? `v${row.run.version}` : row.model.type}
              {row.run?.started_at && row.status.isUp ? (
                <>
                  {" · since "}
                  <Time at={row.run.started_at} />
                </>
              ) : null}
            </span>
          </div>
        </li>
      ))}
    </ul>
  );
}
