/** The round trips of a backtest by symbol. */
import type { TripSummary } from "~/features/backtests/queries";
import { integer, percent } from "~/format/numbers";
import { Gain } from "~/ui/figures";
import { StackedCell, StackedTable } from "~/ui/tables/stacked-table";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";

type Result = TripSummary["symbols"][number];

const FILE: readonly FileColumn<Result>[] = [
  ["symbol", (one) => one.symbol],
  ["round_trips", (one) => one.round_trips],
  ["win_rate", (one) => one.win_rate],
  ["profit", (one) => one.profit],
];
const HEADS = ["Symbol", "Round trips", "Won", "Profit"];
const ROW =
  "grid grid-cols-3 items-baseline gap-x-4 py-1 @[36rem]:grid-cols-[minmax(6rem,2fr)_minmax(0,1fr)_minmax(0,1fr)_minmax(0,1.5fr)]";

export function SymbolResults({
  symbols,
  currency,
}: {
  symbols: readonly Result[];
  currency: string | null;
}) {
  return (
    <div className="grid max-w-2xl gap-1 text-sm">
      <div className="flex items-center justify-between gap-3">
        <h3 className="text-soft">By symbol</h3>
        <TableFile name="Round trips of a backtest by symbol" columns={FILE} rows={symbols} />
      </div>
      <div
        tabIndex={0}
        role="region"
        aria-label="Round trips by symbol"
        className="relative max-h-64 overflow-y-auto focus-visible:-outline-offset-2"
      >
        <StackedTable label="Round trips by symbol" heads={HEADS} row={ROW} from="36rem">
          {symbols.map((one) => (
            <div role="row" key={one.symbol} className={ROW}>
              <span
                role="rowheader"
                dir="auto"
                className="col-span-full min-w-0 text-left [overflow-wrap:anywhere] @[36rem]:col-span-1"
              >
                {one.symbol}
              </span>
              <StackedCell name="Round trips" from="36rem">
                {integer(one.round_trips)}
              </StackedCell>
              <StackedCell name="Won" from="36rem">
                {percent(one.win_rate)}
              </StackedCell>
              <StackedCell name="Profit" from="36rem">
                <Gain value={one.profit} currency={currency} />
              </StackedCell>
            </div>
          ))}
        </StackedTable>
      </div>
    </div>
  );
}
