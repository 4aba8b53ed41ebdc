/**
 * Several curves over one time axis, in panes below one another, with a legend that follows the
 * pointer. Loaded when needed. A figure around it says the same in words and as a table.
 */
import type { Time } from "lightweight-charts";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Mark } from "~/api/types";
import { watch } from "~/ui/appearance";
import {
  type Canvas,
  endOf,
  fill,
  isWhole,
  leaveRoom,
  make,
  mark,
  paint,
  seenBy,
  show,
} from "./canvas";
import type { Traded } from "./markers";
import { drawn, type Pane, placeOf, type View } from "./panes";

export interface PaneChartProps {
  panes: readonly Pane[];
  /** Marked on the first curve. */
  trades?: readonly Traded[];
  /** Versions and downtime of a live model, on a chart of one curve. */
  marks?: readonly Mark[];
  /** Seconds since the epoch, or since each curve's own start. */
  axis?: "time" | "start";
  /** The range in view; null shows everything. A new object moves the chart there. */
  view: View | null;
  onView: (view: View) => void;
  legend?: boolean;
}

interface Legend {
  top: number;
  rows: { id: string; label: string; colour: string; text: string }[];
}

interface Overlay {
  key: string;
  left: number;
  width: number;
  label: string;
  kind: Mark["kind"];
}

const NO_MARKS: readonly Mark[] = [];

export function PaneChart({
  panes,
  trades = [],
  marks = NO_MARKS,
  axis = "time",
  view,
  onView,
  legend = true,
}: PaneChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const made = useRef<Canvas | null>(null);
  const latest = useRef({ panes, trades, marks, onView });
  latest.current = { panes, trades, marks, onView };
  const [legends, setLegends] = useState<Legend[]>([]);
  const [overlays, setOverlays] = useState<Overlay[]>([]);
  const shape = panes
    .map(({ id, curves }) => `${id}:${curves.map((one) => `${one.id} ${one.kind}`).join()}`)
    .join(";");
  const moved = useRef<View | null | undefined>(undefined);
  const written = useRef<(HTMLDivElement | null)[]>([]);
  /** The highest that each legend was: curves must not jump while its numbers change. */
  const highest = useRef<number[]>([]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only other curves need a new chart
  useEffect(() => {
    if (!place.current) return;
    const chart = make(place.current, latest.current.panes, axis);
    made.current = chart;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const redraw = () => {
      mark(chart, latest.current.trades);
      setLegends(legendsOf(chart, latest.current.panes, null));
      setOverlays(overlaysOf(chart, latest.current.panes, latest.current.marks));
      if (timer) clearTimeout(timer);
      timer = setTimeout(() => {
        const seen = seenBy(chart);
        if (seen) latest.current.onView(seen);
      }, 250);
    };
    chart.chart.timeScale().subscribeVisibleLogicalRangeChange(redraw);
    chart.chart.subscribeCrosshairMove(({ time }) =>
      setLegends(legendsOf(chart, latest.current.panes, time === undefined ? null : Number(time))),
    );
    const resized = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const before = chart.chart.timeScale().getVisibleLogicalRange();
      highest.current = [];
      chart.chart.resize(entry.contentRect.width, entry.contentRect.height);
      // The library does not keep the view when it resizes.
      if (before) chart.chart.timeScale().setVisibleLogicalRange(before);
      redraw();
    });
    resized.observe(place.current);
    const unwatch = watch(() => {
      paint(chart, latest.current.panes);
      redraw();
    });
    return () => {
      if (timer) clearTimeout(timer);
      unwatch();
      resized.disconnect();
      chart.chart.remove();
      made.current = null;
      moved.current = undefined;
      highest.current = [];
    };
  }, [shape, axis]);

  useEffect(() => {
    const chart = made.current;
    if (!chart) return;
    const before = moved.current === undefined ? null : seenBy(chart);
    const wasWhole = before === null || isWhole(chart);
    const end = endOf(chart);
    fill(chart, panes);
    paint(chart, panes);
    const scale = chart.chart.timeScale();
    if (moved.current !== view) {
      if (view) show(chart, view);
      else scale.fitContent();
    } else if (wasWhole || !before) scale.fitContent();
    // A view that ends with the newest point moves on with new ones.
    else show(chart, { from: before.from, to: before.to >= end ? endOf(chart) : before.to });
    moved.current = view;
    mark(chart, latest.current.trades);
    setLegends(legendsOf(chart, panes, null));
  }, [panes, view]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other legends may be higher
  useLayoutEffect(() => {
    const canvas = made.current;
    if (!canvas) return;
    written.current.slice(0, panes.length).forEach((one, pane) => {
      const height = one?.offsetHeight ?? 0;
      if (height <= (highest.current[pane] ?? 0)) return;
      highest.current[pane] = height;
      leaveRoom(canvas.chart, pane, height);
    });
  }, [legends]);

  useEffect(() => {
    if (!made.current) return;
    mark(made.current, trades);
    setOverlays(overlaysOf(made.current, panes, marks));
  }, [trades, marks, panes]);

  return (
    <div className="relative h-full min-h-0 overflow-hidden">
      <div ref={place} aria-hidden="true" className="absolute inset-0" />
      {overlays.map((one) => (
        <div
          key={one.key}
          aria-hidden="true"
          className={`pointer-events-none absolute top-0 bottom-6 z-10 overflow-visible ${one.kind === "version" ? "border-l border-dashed border-accent" : "bg-[repeating-linear-gradient(135deg,transparent_0_4px,var(--line)_4px_6px)] opacity-70"}`}
          style={{ left: one.left, width: one.kind === "version" ? 1 : one.width }}
        >
          {one.kind === "version" && (
            <span className="absolute top-0 left-0 rounded-br bg-accent-ground px-1 text-xs text-ink">
              {one.label}
            </span>
          )}
        </div>
      ))}
      {(legend ? legends : []).map(({ top, rows }, pane) => (
        <div
          key={panes[pane]?.id ?? pane}
          ref={(one) => {
            written.current[pane] = one;
          }}
          aria-hidden="true"
          className="pointer-events-none absolute left-1 z-10 flex max-w-[75%] flex-wrap gap-x-3 text-xs"
          style={{ top: top + 4 }}
        >
          {rows.map((row) => (
            <span key={row.id} className="flex min-w-0 items-center gap-1.5">
              <span className="h-0.5 w-3 shrink-0" style={{ backgroundColor: row.colour }} />
              <span className="truncate text-soft">{row.label}</span>
              <span className="num whitespace-nowrap">{row.text}</span>
            </span>
          ))}
        </div>
      ))}
    </div>
  );
}

function legendsOf(
  { chart, series }: Canvas,
  panes: readonly Pane[],
  time: number | null,
): Legend[] {
  let top = 0;
  return panes.map((pane, index) => {
    const at = top;
    top += (chart.panes()[index]?.getHeight() ?? 0) + 1;
    const rows = pane.curves.map((curve) => {
      const data = series.get(curve.id)?.data() ?? [];
      const found = time === null ? data.at(-1) : data[placeIn(data, time)];
      const value = found && "value" in found ? Number(found.value) : null;
      return {
        id: curve.id,
        label: curve.label,
        colour: `var(--${curve.colour})`,
        text: value === null ? "" : pane.format(value),
      };
    });
    return { top: at, rows };
  });
}

/** The last item that is not after a time. */
function placeIn(data: readonly { time: Time }[], time: number): number {
  let [low, high] = [0, data.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Number(data[middle]?.time) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Where versions begin and where the model was down, in pixels. */
function overlaysOf({ chart }: Canvas, panes: readonly Pane[], marks: readonly Mark[]): Overlay[] {
  const points = drawn(panes[0]?.curves[0]?.points ?? []);
  const scale = chart.timeScale();
  const width = scale.width();
  const x = (time: number) => scale.logicalToCoordinate(placeOf(points, time) as never) ?? -1;
  const found: Overlay[] = [];
  for (const mark of marks) {
    const left = x(mark.time);
    const right = mark.kind === "downtime" ? (mark.until === null ? width : x(mark.until)) : left;
    if (right < 0 || left > width || (mark.kind === "downtime" && right - left < 1)) continue;
    found.push({
      key: `${mark.kind} ${mark.time}`,
      left: Math.max(0, left),
      width: Math.min(width, right) - Math.max(0, left),
      label: mark.version ? `v${mark.version}` : "",
      kind: mark.kind,
    });
  }
  return found;
}
