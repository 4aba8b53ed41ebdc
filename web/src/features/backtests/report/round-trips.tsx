/** The round trips of a backtest, latest first, as virtual rows loaded page by page. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { textOf } from "~/charts/figure/range";
import { signedPercent } from "~/features/backtests/metrics";
import * as ask from "~/features/backtests/queries";
import { days, integer, plural, price, quantity } from "~/format/numbers";
import { withZone } from "~/format/zone";
import { useView } from "~/ui/address";
import { Gain } from "~/ui/figures";
import { Icon } from "~/ui/icons";
import { Failed, Notice, Panel, Skeleton } from "~/ui/panel";
import { type Measure, useMeasured, useMeasuredRows } from "~/ui/tables/rows";
import { Time } from "~/ui/time";
import { PRICES } from "./price-panel";
import { SymbolResults } from "./symbol-results";
import "./round-trips.css";

const ROW = 36;
/** Seconds that a price chart shows at least beside a round trip. */
const SHORTEST = 1_800;
const ASSUMED = { height: ROW, overscan: 12 };
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
        summary.count > 0 && (
          <span className="flex items-center gap-3">
            <span className="num text-sm text-soft">{integer(summary.count)}</span>
            <a
              className="link inline-flex items-center gap-1.5"
              href={withZone(ask.fileOf(model, id, "round-trips.csv"))}
              download
            >
              <Icon name="download" />
              CSV
            </a>
          </span>
        )
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
          {trips.length > 0 && (
            <Rows trips={trips} count={summary.count} currency={currency} more={more} />
          )}
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
          {summary.fees !== null && (
            <>
              {", net of "}
              <span className="num">{quantity(summary.fees)}</span> in fees
            </>
          )}
          {summary.open_count > 0 &&
            `; ${plural(summary.open_count, "position")} still open at the end`}
          {summary.open_count > 0 && summary.open_fees !== null && summary.open_fees !== 0 && (
            <>
              {", opened for "}
              <span className="num">{quantity(summary.open_fees)}</span> in fees
            </>
          )}
          .
        </p>
      )}
      {summary.symbols.length > 0 && (
        <SymbolResults symbols={summary.symbols} currency={currency} />
      )}
    </div>
  );
}

function Rows({
  trips,
  count,
  currency,
  more,
}: {
  trips: ask.RoundTrip[];
  count: number;
  currency: string | null;
  more: () => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const show = useTripInChart();
  const { list: rows } = useMeasuredRows(place, trips, indexOf, ASSUMED);
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
      className="trips relative overflow-auto border-t border-line [overflow-anchor:none] focus-visible:-outline-offset-2"
      style={{ maxHeight: ROW * 12.5 }}
    >
      <div role="table" aria-label="Round trips" aria-rowcount={count + 1}>
        <div role="rowgroup" className="sticky top-0 z-10 bg-surface">
          <div role="row" aria-rowindex={1} className="trip heads text-xs font-medium text-soft">
            {HEADS.map((name) => (
              <span role="columnheader" key={name} className={`trip-${name.toLowerCase()}`}>
                {name}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="relative" style={{ height: rows.getTotalSize() }}>
          {items.map(({ index, start, key }) => {
            const trip = trips[index];
            return (
              trip && (
                <Row
                  key={key}
                  trip={trip}
                  at={index}
                  top={start}
                  currency={currency}
                  measure={rows.measureElement}
                  show={show}
                />
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Row({
  trip,
  at,
  top,
  currency,
  measure,
  show,
}: {
  show: (trip: ask.RoundTrip) => void;
  trip: ask.RoundTrip;
  at: number;
  top: number;
  currency: string | null;
  measure: Measure;
}) {
  const row = useMeasured(measure, at, trip);
  const cells: [(typeof HEADS)[number], React.ReactNode][] = [
    [
      "Symbol",
      <button
        key="symbol"
        type="button"
        className="link max-w-full truncate text-left"
        title={`Show this round trip of ${trip.symbol} in the price chart`}
        onClick={() => show(trip)}
      >
        {trip.symbol}
      </button>,
    ],
    ["Size", quantity(trip.size)],
    ["Bought", <Time key="bought" at={trip.entry_time} as="stamp" />],
    ["Sold", <Time key="sold" at={trip.exit_time} as="stamp" />],
    ["Entry", price(trip.entry_price)],
    ["Exit", price(trip.exit_price)],
    ["Held", days((trip.exit_time - trip.entry_time) / 86_400)],
    ["Profit", <Gain key="profit" value={trip.profit} currency={currency} named={false} />],
    ["Return", trip.profit_percent === null ? "–" : signedPercent(trip.profit_percent)],
  ];
  return (
    <div
      ref={row}
      role="row"
      tabIndex={-1}
      aria-rowindex={at + 2}
      data-index={at}
      className="trip absolute w-full hover:bg-hover"
      style={{ top, minHeight: ROW }}
    >
      {cells.map(([name, content]) => (
        <span
          role="cell"
          key={name}
          data-name={name}
          className={`trip-${name.toLowerCase()} num`}
          title={name === "Profit" ? (trip.reason ?? undefined) : undefined}
        >
          {content}
        </span>
      ))}
    </div>
  );
}

/** Moves the price chart to a round trip, with as much before and after it. */
function useTripInChart(): (trip: ask.RoundTrip) => void {
  const [, change] = useView<"symbol" | "prices">();
  return ({ symbol, entry_time: from, exit_time: to }) => {
    const around = Math.max(to - from, SHORTEST);
    const range = { from: from - around, to: to + around };
    change({ symbol, prices: textOf({ range, moment: from }) });
    document.getElementById(PRICES)?.scrollIntoView({ block: "center" });
  };
}

function indexOf({ index }: ask.RoundTrip): number {
  return index;
}
