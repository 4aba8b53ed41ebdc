/** The round trips of a backtest, latest first, as virtual rows loaded page by page. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { days, signedPercent } from "~/features/backtests/metrics";
import * as ask from "~/features/backtests/queries";
import { integer, percent, plural, price, quantity } from "~/format/numbers";
import { Gain } from "~/ui/figures";
import { Failed, Notice, Panel, Skeleton } from "~/ui/panel";
import { Time } from "~/ui/time";

const ROW = 36;
const COLUMNS =
  "grid-cols-[minmax(5rem,1fr)_minmax(5rem,1fr)_minmax(9.5rem,1.2fr)_minmax(9.5rem,1.2fr)_minmax(5rem,.8fr)_minmax(5rem,.8fr)_minmax(4.5rem,.7fr)_minmax(6.5rem,1fr)_minmax(4.5rem,.7fr)]";
const HEADS = [
  "Symbol",
  "Size",
  "Bought",
  "Sold",
  "Entry",
  "Exit",
  "Held",
  "Profit",
  "Return",
] as const;
const RIGHT = new Set<string>(["Size", "Entry", "Exit", "Held", "Profit", "Return"]);

export function RoundTrips({
  model,
  id,
  currency,
}: {
  model: string;
  id: string;
  currency: string | null;
}) {
  const found = useInfiniteQuery(ask.roundTrips(model, id));
  const trips = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const summary = found.data?.pages[0]?.summary;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <Panel
      title="Round trips"
      flush
      aside={
        summary &&
        summary.count > 0 && <span className="num text-sm text-soft">{integer(summary.count)}</span>
      }
    >
      {found.error ? (
        <div className="p-4">
          <Failed error={found.error} retry={() => void found.refetch()} />
        </div>
      ) : !summary ? (
        <Skeleton rows={4} />
      ) : (
        <>
          <Summary summary={summary} currency={currency} />
          {trips.length > 0 && <Rows trips={trips} count={summary.count} more={more} />}
        </>
      )}
    </Panel>
  );
}

function Summary({ summary, currency }: { summary: ask.TripSummary; currency: string | null }) {
  return (
    <div className="grid gap-3 p-4">
      {summary.warnings.map((warning) => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
      {summary.count === 0 && summary.open_count === 0 ? (
        <p className="text-soft">There are no round trips.</p>
      ) : (
        <p>
          {plural(summary.count, "round trip")}
          {summary.profit !== null && (
            <>
              {" made "}
              <Gain value={summary.profit} currency={currency} />
            </>
          )}
          , net of <span className="num">{quantity(summary.fees)}</span> in fees
          {summary.open_count > 0 &&
            `; ${plural(summary.open_count, "position")} still open at the end`}
          .
        </p>
      )}
      {summary.symbols.length > 0 && (
        <div
          tabIndex={0}
          role="region"
          aria-label="Round trips by symbol"
          className="relative max-h-64 overflow-auto"
        >
          <table className="w-full max-w-xl text-sm">
            <thead className="text-xs text-soft">
              <tr>
                <th scope="col" className="py-1 text-left font-medium">
                  Symbol
                </th>
                <th scope="col" className="py-1 pl-4 text-right font-medium">
                  Round trips
                </th>
                <th scope="col" className="py-1 pl-4 text-right font-medium">
                  Won
                </th>
                <th scope="col" className="py-1 pl-4 text-right font-medium">
                  Profit
                </th>
              </tr>
            </thead>
            <tbody>
              {summary.symbols.map((one) => (
                <tr key={one.symbol} className="border-t border-line">
                  <td className="py-1">{one.symbol}</td>
                  <td className="num py-1 pl-4 text-right">{integer(one.round_trips)}</td>
                  <td className="num py-1 pl-4 text-right">{percent(one.win_rate)}</td>
                  <td className="py-1 pl-4 text-right">
                    <Gain value={one.profit} currency={currency} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function Rows({ trips, count, more }: { trips: ask.RoundTrip[]; count: number; more: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: trips.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW,
    overscan: 12,
    getItemKey: (at) => trips[at]?.index ?? at,
  });
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= trips.length - 20) more();
  }, [last, trips.length, more]);
  return (
    <div
      ref={place}
      tabIndex={0}
      role="region"
      aria-label="Round trips"
      className="relative overflow-auto border-t border-line focus-visible:-outline-offset-2"
      style={{ maxHeight: ROW * 12.5 }}
    >
      <div
        role="table"
        aria-label="Round trips"
        aria-rowcount={count + 1}
        className="min-w-[62rem]"
      >
        <div role="rowgroup" className="sticky top-0 z-10 bg-surface">
          <div
            role="row"
            aria-rowindex={1}
            className={`grid ${COLUMNS} gap-x-3 border-b border-line px-4 py-2 text-xs font-medium text-soft`}
          >
            {HEADS.map((name) => (
              <span role="columnheader" key={name} className={RIGHT.has(name) ? "text-right" : ""}>
                {name}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="relative" style={{ height: rows.getTotalSize() }}>
          {items.map(({ index, start, key }) => {
            const trip = trips[index];
            return trip && <Row key={key} trip={trip} at={index} top={start} />;
          })}
        </div>
      </div>
    </div>
  );
}

function Row({ trip, at, top }: { trip: ask.RoundTrip; at: number; top: number }) {
  return (
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={at + 2}
      className={`absolute grid w-full ${COLUMNS} items-center gap-x-3 border-b border-line px-4 hover:bg-hover`}
      style={{ top, height: ROW }}
    >
      <span role="cell" className="truncate">
        {trip.symbol}
      </span>
      <span role="cell" className="num text-right">
        {quantity(trip.size)}
      </span>
      <span role="cell">
        <Time at={trip.entry_time} as="stamp" />
      </span>
      <span role="cell">
        <Time at={trip.exit_time} as="stamp" />
      </span>
      <span role="cell" className="num text-right">
        {price(trip.entry_price)}
      </span>
      <span role="cell" className="num text-right">
        {price(trip.exit_price)}
      </span>
      <span role="cell" className="num text-right whitespace-nowrap">
        {days((trip.exit_time - trip.entry_time) / 86_400)}
      </span>
      <span role="cell" className="text-right" title={trip.reason ?? undefined}>
        <Gain value={trip.profit} />
      </span>
      <span role="cell" className="num text-right">
        {trip.profit_percent === null ? "–" : signedPercent(trip.profit_percent)}
      </span>
    </div>
  );
}
