/** A chart of one symbol: it asks for the range in view, and for the next one when that moves. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import * as ask from "~/api/queries";
import type { Prices } from "~/api/types";
import { ChartFigure } from "~/charts/figure/chart-figure";
import { seenOf, type View, wanted } from "~/charts/panes";
import { price } from "~/format/numbers";
import { stamp } from "~/format/times";
import { Failed } from "~/ui/panel";
import { levelsInWords, levelsOf, panesOf, sourceOf } from "./price-panes";

const HEIGHT = 420;
const BELOW = 110;
/** Bars that are shown first, and the most that one request brings. */
const [AT_FIRST, POINTS] = [300, 1_000];
/** Milliseconds after which new bars are asked for. Bars are not on the tape, so no event tells of them. */
export const LIVE = 3_000;
/** Long before any market: bars so coarse that their whole history is one answer. */
const EVER: View = { from: 0, to: 4e9 };

export function PriceFigure({
  model,
  symbol,
  interval,
  shape,
  at,
  onOrder,
}: {
  model: string;
  symbol: string;
  interval: string;
  shape: "candles" | "line";
  /** A moment to begin with; null begins with the newest bars. */
  at: number | null;
  onOrder: (id: string, time: number) => void;
}) {
  const [asked, setAsked] = useState<View | null>(null);
  const newest = useQuery({
    ...ask.prices(model, { symbol, interval, points: AT_FIRST, window: null }),
    refetchInterval: LIVE,
  });
  const history = useQuery(
    ask.prices(model, { symbol, interval: "1d", points: 5_000, window: EVER }),
  );
  const near = useQuery({
    ...ask.prices(model, { symbol, interval, points: POINTS, window: asked }),
    enabled: asked !== null,
    refetchInterval: asked && asked.to >= (newest.data?.to ?? 0) ? LIVE : false,
    placeholderData: (old) => old,
  });
  const pnl = useQuery(ask.pnl(model, ask.CHART_POINTS, null, null));
  const orders = useQuery({
    queryKey: ["model", model, "orders", "waiting", symbol],
    queryFn: ({ signal }) => ask.orders(model, { symbol, side: "", limit: 200 }, signal),
  });
  const all = useMemo(() => spanOf(newest.data, history.data), [newest.data, history.data]);
  const start = useMemo(() => firstView(newest.data, all, at), [newest.data, all, at]);
  // What was asked for first stays where the chart begins, while newer bars come in.
  const [begun, setBegun] = useState<View | null>(null);
  if (begun === null && start !== null) {
    setBegun(start);
    if (at !== null) setAsked(start);
  }
  const shown = (asked && near.data) || newest.data;
  const average =
    pnl.data?.positions.find((one) => one.symbol === symbol && one.size !== 0)?.average_price ??
    null;
  const lastFill = newest.data?.fills.last ?? null;
  const levels = useMemo(
    () => levelsOf(average, lastFill, orders.data?.items ?? []),
    [average, lastFill, orders.data],
  );
  const until = Math.min(newest.data?.to ?? 0, newest.dataUpdatedAt / 1000);
  const panes = useMemo(
    () => (shown ? panesOf(shown, shape, levels, until) : []),
    [shown, shape, levels, until],
  );
  const trades = useMemo(
    () => (shown?.fills.items ?? []).map((one) => ({ ...one, id: one.order_id })),
    [shown],
  );
  const onSeen = useCallback(
    (seen: View) => {
      if (!all) return;
      setAsked((now) => wanted(seen, { from: -1e12, to: 1e12 }, now) ?? now);
    },
    [all],
  );
  const onTrade = useCallback(
    (id: string) => {
      const found = trades.findLast((one) => one.id === id);
      if (found) onOrder(id, found.time);
    },
    [trades, onOrder],
  );
  if (newest.error) return <Failed error={newest.error} retry={() => void newest.refetch()} />;
  if (!shown || !all || !begun) {
    return newest.isPending || history.isPending ? (
      <div className="skeleton" style={{ height: HEIGHT }} />
    ) : (
      <p className="py-8 text-center text-soft">{symbol} has no prices yet.</p>
    );
  }
  return (
    <ChartFigure
      label={`Prices of ${symbol}`}
      words={(seen) => inWords(shown, panes[0]?.curves[0]?.points ?? [], seen)}
      caption={`${levelsInWords(levels)} ${sourceOf(shown)} Arrows are fills: press one to open its order.`}
      panes={panes}
      trades={trades}
      all={all}
      start={begun}
      onSeen={onSeen}
      onTrade={onTrade}
      height={HEIGHT + BELOW * (panes.length - 1)}
      address="range"
    />
  );
}

/** From the first known bar to the end of the newest. */
export function spanOf(newest: Prices | undefined, history: Prices | undefined): View | null {
  if (!newest || !history || newest.from === null || newest.to === null) return null;
  const times = history.bars?.time ?? history.line?.map(({ time }) => time) ?? [];
  const from = Math.min(newest.from, times[0] ?? newest.from);
  return newest.to > from ? { from, to: newest.to } : null;
}

function firstView(newest: Prices | undefined, all: View | null, at: number | null): View | null {
  if (!newest || !all || newest.from === null || newest.to === null) return null;
  const span = newest.to - newest.from;
  if (at === null) return { from: newest.from, to: newest.to };
  return { from: at - span / 2, to: at + span / 2 };
}

export function inWords(
  { symbol }: Pick<Prices, "symbol">,
  points: readonly { time: number; value: number | null }[],
  seen: View,
): string {
  const known = seenOf(points, seen).filter((one) => one.value !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (!first || !last) return `${symbol} has no prices in this range.`;
  return `${symbol} went from ${price(first.value)} at ${stamp(first.time)} to ${price(last.value)} at ${stamp(last.time)}.`;
}
