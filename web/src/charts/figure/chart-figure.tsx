/**
 * A chart with its ranges, keyboard control, a summary in words for screen readers, and a table. Its
 * range and a moment that was marked are in the address, if it has a name there.
 */
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import type { Mark } from "~/api/types";
import { useView } from "~/ui/address";
import type { Axis } from "../axis";
import type { Traded } from "../markers";
import { type Pane, steered, type View } from "../panes";
import { MomentLink } from "./moment-link";
import { PaneTable } from "./pane-table";
import { RANGES, type Shown, shownBy, textOf, viewOf } from "./range";

const PaneChart = lazy(() =>
  import("../pane-chart").then((module) => ({ default: module.PaneChart })),
);

const ALL = "All";
/** A range much shorter than the whole has hardly a point to show. */
const MOST_ZOOM = 2_000;
/** Milliseconds without another key after which the address is written: browsers limit how often. */
const HELD = 250;
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
  address = "",
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
  /** The name of its range in the address; the route of the page has to list it. */
  address?: string;
}) {
  const [chosen, setChosen] = useState<string | null>(start ? null : ALL);
  const [view, setView] = useState<View | null>(start);
  const [seen, setSeen] = useState<View | null>(start);
  const [asTable, setAsTable] = useState(false);
  const [drawnAxis, setDrawnAxis] = useState(axis);
  const [{ [address]: said = "" }, change] = useView<string>();
  const [text, setText] = useState("");
  const [followed, setFollowed] = useState("");
  const writing = useRef(0);
  const { moment } = shownBy(text);
  // A view on one axis means nothing on the other.
  if (axis !== drawnAxis) {
    setDrawnAxis(axis);
    show(ALL, null);
  }
  const [started, setStarted] = useState(start);
  if (start !== started) {
    setStarted(start);
    show(start ? null : ALL, start);
  }
  // The address moves the chart when it is opened and on the way back, not when the chart wrote it.
  if (all && said !== followed) {
    setFollowed(said);
    if (said !== text) {
      const { range } = shownBy(said);
      const next = range === null ? start : viewOf(range, all);
      setText(said);
      show(typeof range === "string" ? range : next ? null : ALL, next && { ...next });
    }
  }
  const [first, last] = [view?.from, view?.to];
  // biome-ignore lint/correctness/useExhaustiveDependencies: tells of a range that the address moved to
  useEffect(() => {
    if (followed && first !== undefined && last !== undefined) onSeen?.({ from: first, to: last });
  }, [followed]);
  useEffect(() => () => clearTimeout(writing.current), []);

  function show(name: string | null, next: View | null) {
    setChosen(name);
    setView(next);
    setSeen(next);
  }
  function write(shown: Shown, after = 0) {
    if (!address) return;
    const next = textOf(shown);
    setText(next);
    clearTimeout(writing.current);
    const now = () => change({ [address]: next }, "typed");
    if (after) writing.current = window.setTimeout(now, after);
    else now();
  }
  const span = all ? all.to - all.from : 0;
  const shorter =
    axis === "time"
      ? RANGES.filter(([, , seconds]) => seconds < span && seconds > span / MOST_ZOOM)
      : [];
  const ranges = [...shorter, [ALL, ALL, span] as const];

  function choose(name: string, seconds: number) {
    setChosen(name);
    if (!all) return;
    const next = { from: all.to - seconds, to: all.to };
    setView(next);
    setSeen(name === ALL ? null : next);
    write({ range: start || name !== ALL ? name : null, moment: null });
    onSeen?.(next);
  }

  function look(now: View) {
    const isWhole = all !== null && now.from <= all.from && now.to >= all.to;
    const name = isWhole ? ALL : rangeOf(now, all);
    setSeen(isWhole ? null : now);
    setChosen(name);
    write({ range: name === ALL && !start ? null : (name ?? now), moment });
    onSeen?.(now);
  }
  function mark(at: number | null) {
    const range = at === null ? (chosen ?? seen) : (seen ?? all);
    write({ range: range === ALL && !start ? null : range, moment: at });
  }
  function steer(event: React.KeyboardEvent) {
    if (!all || event.ctrlKey || event.metaKey || event.altKey) return;
    const now = seen ?? all;
    if (address && event.key === "m") return mark(moment === null ? (now.from + now.to) / 2 : null);
    const next = steered(seen, all, event.key);
    if (next === undefined) return;
    event.preventDefault();
    write({ range: next ?? (start ? ALL : null), moment }, HELD);
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
          {address && <MomentLink moment={moment} axis={axis} leave={() => mark(null)} />}
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
          aria-label={`${label}. Use the arrow keys to move, plus and minus to zoom, zero to show everything${address ? ", M to mark a moment" : ""}.`}
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
                moment={moment}
                onMoment={address ? mark : undefined}
                legend={legend}
              />
            </Suspense>
          )}
        </div>
      )}
      <figcaption dir="auto" className="max-w-prose text-xs text-soft">
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
