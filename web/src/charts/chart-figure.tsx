/** A chart with its ranges, keyboard control, a summary in words for screen readers, and a table. */
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { Mark } from "~/api/types";
import { Time } from "~/ui/time";
import { type Axis, axisText } from "./axis";
import type { Traded } from "./markers";
import { drawn, type Pane, sampled, steered, type View } from "./panes";

const PaneChart = lazy(() =>
  import("./pane-chart").then((module) => ({ default: module.PaneChart })),
);

const DAY = 86_400;
const RANGES: [string, string, number][] = [
  ["1H", "The last hour", DAY / 24],
  ["1D", "The last day", DAY],
  ["1W", "The last week", 7 * DAY],
  ["1M", "The last month", 30 * DAY],
  ["3M", "The last three months", 91 * DAY],
  ["1Y", "The last year", 365 * DAY],
];
const ALL = "All";
const MOST_ROWS = 250;
/** A range much shorter than the whole has hardly a point to show. */
const MOST_ZOOM = 2_000;
const NO_TRADES: readonly Traded[] = [];

export function ChartFigure({
  label,
  words,
  panes,
  trades = NO_TRADES,
  marks,
  axis = "time",
  all,
  onSeen,
  height,
  caption,
  aside,
  legend = true,
  onTrade,
  start = null,
}: {
  label: string;
  /** What the chart shows, of the range in view. */
  words: (seen: View) => string;
  panes: readonly Pane[];
  trades?: readonly Traded[];
  marks?: readonly Mark[] | undefined;
  axis?: Axis;
  /** From the first point to the last. */
  all: View | null;
  onSeen?: (view: View) => void;
  height: number;
  caption?: ReactNode;
  aside?: ReactNode;
  legend?: boolean;
  onTrade?: (id: string) => void;
  /** The range to show first; a new object moves the chart there. */
  start?: View | null;
}) {
  const [chosen, setChosen] = useState<string | null>(start ? null : ALL);
  const [view, setView] = useState<View | null>(start);
  const [seen, setSeen] = useState<View | null>(start);
  const [asTable, setAsTable] = useState(false);
  const [drawnAxis, setDrawnAxis] = useState(axis);
  // A view on one axis means nothing on the other.
  if (axis !== drawnAxis) {
    setDrawnAxis(axis);
    setChosen(ALL);
    setView(null);
    setSeen(null);
  }
  const [started, setStarted] = useState(start);
  if (start !== started) {
    setStarted(start);
    setChosen(start ? null : ALL);
    setView(start);
    setSeen(start);
  }
  const span = all ? all.to - all.from : 0;
  const shorter =
    axis === "time"
      ? RANGES.filter(([, , seconds]) => seconds < span && seconds > span / MOST_ZOOM)
      : [];
  const ranges: typeof RANGES = [...shorter, [ALL, ALL, span]];

  function choose(name: string, seconds: number) {
    setChosen(name);
    if (!all) return;
    const next = { from: all.to - seconds, to: all.to };
    setView(next);
    setSeen(name === ALL ? null : next);
    onSeen?.(next);
  }

  function look(now: View) {
    const isWhole = all !== null && now.from <= all.from && now.to >= all.to;
    setSeen(isWhole ? null : now);
    setChosen(isWhole ? ALL : rangeOf(now, all));
    onSeen?.(now);
  }
  function steer(event: React.KeyboardEvent) {
    if (!all || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = steered(seen, all, event.key);
    if (next === undefined) return;
    event.preventDefault();
    setChosen(next ? null : ALL);
    setSeen(next);
    onSeen?.(next ?? all);
    // A new object, so that the same range again moves a chart that was dragged.
    setView(next ? { ...next } : { ...all });
  }

  return (
    <figure aria-label={label} className="grid gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div role="group" aria-label="Range" className="flex gap-0.5 rounded-md bg-sunken p-0.5">
          {ranges.map(([name, long, seconds]) => (
            <button
              key={name}
              type="button"
              aria-label={long}
              aria-pressed={chosen === name}
              onClick={() => choose(name, seconds)}
              className={`num min-h-7 min-w-9 rounded-sm px-2 text-sm ${chosen === name ? "bg-surface font-medium shadow-sm" : "text-soft hover:text-ink"}`}
            >
              {name}
            </button>
          ))}
        </div>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          {aside}
          <button
            type="button"
            className="link min-h-7 text-sm"
            aria-pressed={asTable}
            onClick={() => setAsTable(!asTable)}
          >
            {asTable ? "Show the chart" : "Show as a table"}
          </button>
        </div>
      </div>
      {asTable ? (
        <PaneTable label={label} panes={panes} axis={axis} height={height} />
      ) : (
        <div
          tabIndex={0}
          role="group"
          aria-roledescription="chart"
          aria-label={`${label}. Use the arrow keys to move, plus and minus to zoom, zero to show everything.`}
          onKeyDown={steer}
          style={{ height }}
        >
          {all && (
            <Suspense fallback={<div className="skeleton h-full" />}>
              <PaneChart
                panes={panes}
                trades={trades}
                {...(marks ? { marks } : {})}
                axis={axis}
                all={all}
                view={view}
                onView={look}
                onTrade={onTrade}
                legend={legend}
              />
            </Suspense>
          )}
        </div>
      )}
      <figcaption className="max-w-prose text-xs text-soft">
        {all && words(seen ?? all)} {caption}
      </figcaption>
    </figure>
  );
}

/** The button that shows just this range, if there is one. */
function rangeOf({ from, to }: View, all: View | null): string | null {
  const isLast = all !== null && to >= all.to - 1e-6;
  const found = RANGES.find(([, , seconds]) => Math.abs(to - from - seconds) < seconds * 1e-6);
  return isLast && found ? found[0] : null;
}

function PaneTable({
  label,
  panes,
  axis,
  height,
}: {
  label: string;
  panes: readonly Pane[];
  axis: Axis;
  height: number;
}) {
  const curves = panes.flatMap((pane) =>
    pane.curves.map((curve) => ({ ...curve, format: pane.exact ?? pane.format })),
  );
  const longest = curves.reduce(
    (one, other) => (other.points.length > one.length ? other.points : one),
    curves[0]?.points ?? [],
  );
  const rows = sampled(drawn(longest), MOST_ROWS).toReversed();
  const known = curves.map(({ points }) => drawn(points));
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label={`${label} as a table`}
      className="relative overflow-auto"
      style={{ height }}
    >
      <table className="w-full text-sm">
        <thead className="sticky top-0 bg-surface text-xs text-soft">
          <tr>
            <th scope="col" className="py-1 pr-3 text-left font-medium">
              {axis === "time" ? "Time" : "Since start"}
            </th>
            {curves.map((curve) => (
              <th key={curve.id} scope="col" className="py-1 pl-3 text-right font-medium">
                {curve.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ time }) => (
            <tr key={time} className="border-t border-line">
              <td className="num py-1 pr-3 whitespace-nowrap">
                {axis === "time" ? <Time at={time} as="stamp" /> : axisText(time, axis)}
              </td>
              {curves.map((curve, place) => {
                const value = valueAt(known[place] ?? [], time);
                return (
                  <td key={curve.id} className="num py-1 pl-3 text-right whitespace-nowrap">
                    {value === null ? "–" : curve.format(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The last value at or before a time; null outside the curve. */
function valueAt(
  points: readonly { time: number; value: number | null }[],
  time: number,
): number | null {
  const last = points.at(-1);
  if (!last || time > last.time) return null;
  const found = points.findLast((point) => point.time <= time);
  return found?.value ?? null;
}
