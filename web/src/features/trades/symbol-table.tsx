/** The round trips of each symbol; a press on one shows only its own. */
import { Bar } from "~/charts/number-bar";
import { barsOf } from "~/charts/number-bars";
import { integer, percent } from "~/format/numbers";
import { lasting } from "~/format/times";
import { Gain } from "~/ui/figures";
import { Panel } from "~/ui/panel";
import { FITS, StackedCell, StackedTable } from "~/ui/tables/stacked-table";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import type { Group } from "./queries";

const HEADS = ["Symbol", "Round trips", "Won", "Held", "Profit"];
/** The name above its numbers on a phone, with their names; a row where there is room. */
const ROW =
  "grid grid-cols-3 items-baseline gap-x-4 gap-y-1 px-4 py-2 @[36rem]:grid-cols-[minmax(6rem,1.5fr)_repeat(3,minmax(4.5rem,1fr))_minmax(7rem,1.4fr)]";

export const GROUP_FILE: readonly FileColumn<Group>[] = [
  ["key", (one) => one.key],
  ["round_trips", (one) => one.round_trips],
  ["win_rate", (one) => one.win_rate],
  ["average_seconds", (one) => one.average_seconds],
  ["fees", (one) => one.fees],
  ["profit", (one) => one.profit],
];

export function SymbolTable({
  groups,
  currency,
  choose,
}: {
  groups: readonly Group[];
  currency: string | null;
  choose: (symbol: string) => void;
}) {
  const sorted = groups.toSorted((one, other) => (other.profit ?? 0) - (one.profit ?? 0));
  const bars = barsOf(sorted.map(({ profit }) => profit));
  return (
    <Panel
      title="By symbol"
      flush
      aside={<TableFile name="Round trips by symbol" columns={GROUP_FILE} rows={sorted} />}
    >
      <StackedTable label="Round trips by symbol" heads={HEADS} row={ROW} from="36rem">
        {sorted.map((one, place) => (
          <div role="row" key={one.key} className={`${ROW} hover:bg-hover`}>
            <span role="rowheader" className="col-span-3 min-w-0 @[36rem]:col-span-1">
              <button
                type="button"
                dir="auto"
                className="link block max-w-full truncate text-left"
                title={one.key}
                onClick={() => choose(one.key)}
              >
                {one.key}
              </button>
            </span>
            <Cell name="Round trips">{integer(one.round_trips)}</Cell>
            <Cell name="Won">{percent(one.win_rate)}</Cell>
            <Cell name="Held">{lasting(one.average_seconds)}</Cell>
            <span
              role="cell"
              className={`col-span-3 ${FITS} @[36rem]:col-span-1 @[36rem]:text-right`}
            >
              <Gain value={one.profit} currency={currency} />
              <Bar
                place={bars[place] ?? null}
                tone={(one.profit ?? 0) < 0 ? "down" : "up"}
                className="mt-1"
              />
            </span>
          </div>
        ))}
      </StackedTable>
    </Panel>
  );
}

function Cell({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <StackedCell name={name} from="36rem" className="whitespace-nowrap">
      {children}
    </StackedCell>
  );
}
