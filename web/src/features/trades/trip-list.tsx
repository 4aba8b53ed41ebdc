/** Round trips one by one, the newest exit first: a row where there is room, else stacked. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { signedPercent } from "~/features/backtests/metrics";
import { dated } from "~/format/csv";
import { money, price, quantity } from "~/format/numbers";
import { lasting } from "~/format/times";
import { Button } from "~/ui/button";
import { Gain } from "~/ui/figures";
import { Failed, Panel, Skeleton } from "~/ui/panel";
import { Choice, type Option } from "~/ui/select";
import { StackedCell, StackedTable } from "~/ui/tables/stacked-table";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { Time } from "~/ui/time";
import { excursionOf } from "./excursion";
import { allTrips, type Trip, trips } from "./queries";

const SIDES: readonly Option[] = [
  ["", "Long and short"],
  ["long", "Long"],
  ["short", "Short"],
];
const HEADS = ["Symbol", "Size", "Entry", "Exit", "Held", "Best", "Worst", "Fees", "Profit"];
const FILE: readonly FileColumn<Trip>[] = [
  ["symbol", (one) => one.symbol],
  ["side", (one) => one.side],
  ["size", (one) => one.size],
  ["entry_date", (one) => dated(one.entry_time)],
  ["entry_price", (one) => one.entry_price],
  ["entry_order", (one) => one.entry_order],
  ["exit_date", (one) => dated(one.exit_time)],
  ["exit_price", (one) => one.exit_price],
  ["exit_order", (one) => one.exit_order],
  ["held_seconds", (one) => one.seconds],
  ["best_price", (one) => one.best_price],
  ["worst_price", (one) => one.worst_price],
  ["fees", (one) => one.fees],
  ["profit", (one) => one.profit],
  ["profit_share", (one) => one.profit_percent],
  ["currency", (one) => one.currency],
];
const ROW =
  "grid grid-cols-2 gap-x-4 gap-y-1 px-4 py-2 @[36rem]:grid-cols-4 @[60rem]:grid-cols-[minmax(0,1.1fr)_minmax(0,1fr)_9.5rem_9.5rem_minmax(0,0.8fr)_minmax(0,1fr)_minmax(0,1fr)_minmax(0,0.8fr)_minmax(0,1.4fr)] @[60rem]:items-baseline";

export function TripList({
  model,
  symbol,
  side,
  choose,
  currency,
  look,
}: {
  model: string;
  symbol: string;
  side: "" | "long" | "short";
  choose: (side: string) => void;
  /** Of the figures above the list: symbols in it can be looked at there. */
  currency: string | null;
  look: (symbol: string) => void;
}) {
  const found = useInfiniteQuery(trips(model, symbol, side));
  const items = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Panel
      title="Round trips"
      note="the newest exit first"
      flush
      aside={
        <span className="flex flex-wrap items-center gap-3">
          <Choice label="Side" value={side} options={SIDES} choose={choose} />
          {items.length > 0 && (
            <TableFile
              name="Round trips"
              columns={FILE}
              rows={() => allTrips(model, symbol, side)}
            />
          )}
        </span>
      }
    >
      {found.error ? (
        <div className="p-4">
          <Failed error={found.error} retry={() => void found.refetch()} />
        </div>
      ) : found.isPending ? (
        <Skeleton rows={4} />
      ) : items.length === 0 ? (
        <p className="p-4 text-soft">There are none.</p>
      ) : (
        <Table
          items={items}
          look={(trip) => (symbol || trip.currency === currency ? null : () => look(trip.symbol))}
        />
      )}
      {found.hasNextPage && (
        <div className="border-t border-line p-2">
          <Button onClick={() => void found.fetchNextPage()} disabled={found.isFetchingNextPage}>
            Show more
          </Button>
        </div>
      )}
    </Panel>
  );
}

function Table({ items, look }: { items: Trip[]; look: (trip: Trip) => (() => void) | null }) {
  return (
    <StackedTable label="Round trips" heads={HEADS} row={ROW} from="60rem">
      {items.map((one) => (
        <Row
          key={`${one.entry_order} ${one.exit_order} ${one.entry_time} ${one.exit_time} ${one.size}`}
          trip={one}
          look={look(one)}
        />
      ))}
    </StackedTable>
  );
}

/** Each in its own currency: a list may have several. */
function Row({ trip, look }: { trip: Trip; look: (() => void) | null }) {
  const { best, worst } = excursionOf(trip);
  return (
    <div role="row" className={`${ROW} hover:bg-hover`}>
      <span
        role="cell"
        title={trip.symbol}
        className="col-span-2 min-w-0 @[36rem]:col-span-4 @[60rem]:col-span-1"
      >
        {look ? (
          <button
            type="button"
            dir="auto"
            className="link block max-w-full truncate text-left"
            onClick={look}
          >
            {trip.symbol}
          </button>
        ) : (
          <span dir="auto" className="block truncate text-left font-medium">
            {trip.symbol}
          </span>
        )}
        <span className={`text-xs ${trip.side === "long" ? "text-up" : "text-down"}`}>
          {trip.side === "long" ? "▲ Long" : "▼ Short"}
        </span>
      </span>
      <Cell name="Size">{quantity(trip.size)}</Cell>
      <Cell name="Entry" more={<Time at={trip.entry_time} as="stamp" />}>
        {price(trip.entry_price)}
      </Cell>
      <Cell name="Exit" more={<Time at={trip.exit_time} as="stamp" />}>
        {price(trip.exit_price)}
      </Cell>
      <Cell name="Held">{lasting(trip.seconds)}</Cell>
      <Cell name="Best" more={best === null ? "" : signedPercent(best)}>
        {price(trip.best_price)}
      </Cell>
      <Cell name="Worst" more={worst === null ? "" : signedPercent(worst)}>
        {price(trip.worst_price)}
      </Cell>
      <Cell name="Fees">{money(trip.fees, trip.currency)}</Cell>
      <Cell
        name="Profit"
        more={trip.profit_percent === null ? "" : signedPercent(trip.profit_percent)}
      >
        <Gain value={trip.profit} currency={trip.currency} />
      </Cell>
    </div>
  );
}

function Cell({
  name,
  more = "",
  children,
}: {
  name: string;
  /** Its time, or the same in percent of the entry. */
  more?: React.ReactNode;
  children: React.ReactNode;
}) {
  return (
    <StackedCell name={name} from="60rem" more={more}>
      {children}
    </StackedCell>
  );
}
