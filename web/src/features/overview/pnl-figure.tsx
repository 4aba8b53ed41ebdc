/** The chart with what belongs to it: ranges, words for who does not see it, and the same as a table. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import * as ask from "~/api/queries";
import type { Mark, OrderMark, Point } from "~/api/types";
import { steered } from "~/charts/panes";
import { type Drawn, drawable, sampled, summary } from "~/charts/series";
import { Gain } from "~/ui/figures";
import { Failed } from "~/ui/panel";
import { Time } from "~/ui/time";

const PnlChart = lazy(() =>
  import("~/charts/pnl-chart").then((module) => ({ default: module.PnlChart })),
);

const HEIGHT = "h-72 sm:h-80";
const HOUR = 3600;
const RANGES: [string, number | null][] = [
  ["1H", HOUR],
  ["1D", 24 * HOUR],
  ["1W", 7 * 24 * HOUR],
  ["1M", 30 * 24 * HOUR],
  ["1Y", 365 * 24 * HOUR],
  ["All", null],
];

/** `wanted` is the currency somebody chose; without one, the server takes the model's own. */
export function PnlFigure({ model, wanted }: { model: string; wanted: string | null }) {
  const [chosen, setChosen] = useState<string | null>("All");
  const [range, setRange] = useState<ask.Window | null>(null);
  const [closer, setCloser] = useState<ask.Window | null>(null);
  const [seen, setSeen] = useState<ask.Window | null>(null);
  const [asTable, setAsTable] = useState(false);
  const whole = useQuery(ask.pnl(model, ask.CHART_POINTS, null, wanted));
  const detail = useQuery({
    ...ask.pnl(model, ask.CHART_POINTS, closer, wanted),
    enabled: closer !== null,
    placeholderData: (old) => old,
  });
  const marked = useQuery({ ...ask.orderMarks(model, closer), placeholderData: (old) => old });
  const orders = marked.data?.items ?? NO_ORDERS;
  const points = useMemo(
    () => joined(whole.data?.series ?? [], (closer && detail.data?.series) || [], orders),
    [whole.data, closer, detail.data, orders],
  );
  const [first, last] = [points[0]?.time ?? 0, points.at(-1)?.time ?? 0];

  function choose(name: string, seconds: number | null) {
    const end = last || Date.now() / 1000;
    setChosen(name);
    setRange(seconds === null ? null : { from: end - seconds, to: end });
    setCloser(seconds === null ? null : { from: end - seconds, to: end });
  }
  function look(view: ask.Window) {
    setSeen(view);
    // The server thinned the curve out, or counted orders, only where there were more than asked for.
    const isThinned =
      (whole.data?.series.length ?? 0) >= ask.CHART_POINTS * 0.9 || marked.data?.grouped;
    const isClose = view.to - view.from < (last - first) * 0.6;
    if (!isClose) setCloser(null);
    else if (isThinned || closer)
      setCloser((now) => (now && near(now, view) ? now : widened(view)));
  }
  function steer(event: React.KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey || last <= first) return;
    const all = { from: first, to: last };
    const next = steered(seen, all, event.key);
    if (next === undefined) return;
    event.preventDefault();
    setChosen(next ? null : "All");
    setSeen(next ?? all);
    // Always another object: the same view again must move a chart that was moved by hand.
    setRange({ ...(next ?? all) });
  }

  if (whole.error) return <Failed error={whole.error} retry={() => void whole.refetch()} />;
  if (points.length === 0 && !whole.isPending) {
    return (
      <p className="py-8 text-center text-soft">
        The curve begins with the first order that has a price.
      </p>
    );
  }
  const currency = whole.data?.series_currency ?? wanted;
  const words = summary(points, currency);
  return (
    <figure aria-label="Profit and loss over time" className="grid gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div role="group" aria-label="Range" className="flex gap-0.5 rounded-md bg-sunken p-0.5">
          {RANGES.map(([name, seconds]) => (
            <button
              key={name}
              type="button"
              aria-pressed={chosen === name}
              onClick={() => choose(name, seconds)}
              className={`num min-h-7 min-w-9 rounded-sm px-2 text-sm ${chosen === name ? "bg-surface font-medium shadow-sm" : "text-soft hover:text-ink"}`}
            >
              {name}
            </button>
          ))}
        </div>
        <button
          type="button"
          className="link text-sm"
          aria-pressed={asTable}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? "Show the chart" : "Show as a table"}
        </button>
      </div>
      {asTable ? (
        <div className={HEIGHT}>
          <PointTable points={points} currency={currency} />
        </div>
      ) : points.length === 0 ? (
        <div className={`skeleton ${HEIGHT}`} />
      ) : (
        <div
          tabIndex={0}
          role="group"
          aria-roledescription="chart"
          aria-label="Profit and loss over time. Arrow keys move it, plus and minus zoom, zero shows all."
          onKeyDown={steer}
          className={HEIGHT}
        >
          <Suspense fallback={<div className="skeleton h-full" />}>
            <PnlChart
              points={points}
              orders={orders}
              marks={whole.data?.marks ?? NO_MARKS}
              currency={currency}
              range={range}
              onView={look}
            />
          </Suspense>
        </div>
      )}
      <figcaption className="flex flex-wrap justify-between gap-x-4 text-xs text-soft">
        <span className="sr-only">{words}</span>
        <span>Arrows are orders; a number counts those that share a place.</span>
        <a className="link" href="https://www.tradingview.com/" rel="noreferrer" target="_blank">
          Chart by TradingView Lightweight Charts
        </a>
      </figcaption>
    </figure>
  );
}

const NO_MARKS: readonly Mark[] = [];
const NO_ORDERS: readonly OrderMark[] = [];

/** The whole curve with the part that is looked at in full. Without a curve, orders still have a line. */
export function joined(
  whole: readonly Point[],
  detail: readonly Point[],
  orders: readonly { time: number }[],
): Drawn[] {
  const [first, last] = [detail[0], detail.at(-1)];
  if (whole.length === 0 && detail.length === 0) {
    return drawable(orders.map(({ time }) => ({ time, value: 0 })).sort((a, b) => a.time - b.time));
  }
  if (!first || !last) return drawable(whole);
  return drawable([
    ...whole.filter(({ time }) => time < first.time),
    ...detail,
    ...whole.filter(({ time }) => time > last.time),
  ]);
}

function near(now: ask.Window, view: ask.Window): boolean {
  const span = now.to - now.from;
  return view.from >= now.from && view.to <= now.to && view.to - view.from > span * 0.2;
}

function widened({ from, to }: ask.Window): ask.Window {
  const margin = (to - from) / 2;
  return { from: from - margin, to: to + margin };
}

function PointTable({ points, currency }: { points: readonly Drawn[]; currency: string | null }) {
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label="Profit and loss as a table"
      className="h-full overflow-y-auto"
    >
      <table className="w-full text-sm">
        <thead className="sticky top-0 bg-surface text-left text-xs text-soft">
          <tr>
            <th scope="col" className="py-1 font-medium">
              Time
            </th>
            <th scope="col" className="py-1 text-right font-medium">
              Profit and loss
            </th>
          </tr>
        </thead>
        <tbody>
          {sampled(points, 300)
            .toReversed()
            .map((point) => (
              <tr key={point.time} className="border-t border-line">
                <td className="py-1">
                  <Time at={point.time} as="stamp" />
                </td>
                <td className="py-1 text-right">
                  <Gain value={point.value} currency={currency} />
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
