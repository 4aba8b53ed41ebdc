/** The data of a chart with several panes, and arithmetic on views. Nothing here draws. */
import { percent } from "~/format/numbers";
import type { Bars } from "./bars";
import type { Scale } from "./values";

export interface PanePoint {
  time: number;
  value: number | null;
}

export interface Curve {
  id: string;
  label: string;
  points: readonly PanePoint[];
  /** The name of a colour of the stylesheet. */
  colour: string;
  /** "gain" has the colours of profit above zero and of loss below it. */
  kind: "line" | "area" | "below" | "gain";
  dash?: number;
}

export interface Pane {
  id: string;
  /** Its share of the height. */
  weight: number;
  curves: readonly Curve[];
  /** A value as its legend, its tag and the pointer say it, with the digits of its currency but without
   * its name. Ticks are written by the axis. */
  format: (value: number) => string;
  /** With every digit and its unit, where a table has room for them. */
  exact?: (value: number) => string;
  scale?: Scale;
  /** Drawn as candles in place of the first curve, which has their closes. */
  bars?: Bars | undefined;
  /** Prices that matter, each a dashed line. */
  levels?: readonly Level[];
}

export interface Level {
  value: number;
  label: string;
  colour: string;
  /** From when on it holds; it is not drawn before. Without one it always did. */
  since?: number | null;
}

/** Under an account: how far it is below its highest value so far. */
export function drawdownPane(points: readonly PanePoint[]): Pane {
  return {
    id: "drawdown",
    weight: 1.2,
    scale: "percent",
    format: (value) => percent(Math.min(0, value) || 0),
    curves: [{ id: "drawdown", label: "Drawdown", colour: "down", kind: "below", points }],
  };
}

export interface View {
  from: number;
  to: number;
}

/** Closer than this share of the whole there is nothing more to see. */
const CLOSEST = 1 / 100_000;

/** A view of a size that can be drawn, within the whole; null where it shows everything. */
export function within(view: View, all: View): View | null {
  const whole = all.to - all.from;
  const span = Math.max(view.to - view.from, whole * CLOSEST, Math.min(whole, 1e-3));
  if (!(span < whole * (1 - 1e-9))) return null;
  const middle = (view.from + view.to) / 2;
  const from = Math.min(Math.max(middle - span / 2, all.from), all.to - span);
  return { from, to: from + span };
}

/** Zooms around a moment that stays in its place; a factor below 1 comes closer. */
export function zoomed(view: View, at: number, factor: number): View {
  return { from: at - (at - view.from) * factor, to: at + (view.to - at) * factor };
}

/**
 * A view after its data grew: one that ended with the newest point moves on with new ones, any
 * other stays.
 */
export function followed(view: View | null, before: View, all: View): View | null {
  if (!view || view.to < before.to - 1e-9) return view;
  return within({ from: view.from + all.to - before.to, to: all.to }, all);
}

/** The last place that is not after a time; -1 if all are. */
export function placeBefore(points: readonly { time: number }[], time: number): number {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.time ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The levels that hold within a view or from some moment of it on. */
export function levelsIn(levels: readonly Level[], { to }: View): Level[] {
  return levels.filter(({ since }) => (since ?? Number.NEGATIVE_INFINITY) < to);
}

/** The points within a view. */
export function seenOf<T extends { time: number }>(points: readonly T[], { from, to }: View): T[] {
  return points.filter(({ time }) => time >= from && time <= to);
}

/** The height of a curve at a time, between two points too; null outside it and in its gaps. */
export function valueAt(points: readonly PanePoint[], time: number): number | null {
  const place = placeBefore(points, time);
  const [before, after] = [points[place], points[place + 1]];
  if (!before || before.value === null) return null;
  if (!after) return before.time === time ? before.value : null;
  if (after.value === null) return before.value;
  return (
    before.value +
    ((time - before.time) / (after.time - before.time)) * (after.value - before.value)
  );
}

/** In order of time, one point per time: the last one sent. */
export function drawn(points: readonly PanePoint[]): PanePoint[] {
  const found: PanePoint[] = [];
  for (const point of points) {
    const last = found.at(-1);
    if (last && point.time === last.time) found[found.length - 1] = point;
    else if (!last || point.time > last.time) found.push(point);
  }
  return found;
}

/** The whole curve with the part in view in full detail. */
export function closer(
  whole: readonly PanePoint[],
  detail: readonly PanePoint[],
): readonly PanePoint[] {
  const [first, last] = [detail[0], detail.at(-1)];
  if (!first || !last) return whole;
  return [
    ...whole.filter(({ time }) => time < first.time),
    ...detail,
    ...whole.filter(({ time }) => time > last.time),
  ];
}

/**
 * The range whose detail should be requested for a view: the range requested before, while it still
 * covers the view; null when the whole curve is detailed enough.
 */
export function wanted(seen: View, all: View, asked: View | null): View | null {
  const [span, whole] = [seen.to - seen.from, all.to - all.from];
  if (!(span > 0) || span > whole * 0.6) return null;
  if (asked) {
    const has = asked.to - asked.from;
    if (seen.from >= asked.from && seen.to <= asked.to && span > has * 0.25) return asked;
  }
  const margin = span / 2;
  return { from: Math.max(all.from, seen.from - margin), to: Math.min(all.to, seen.to + margin) };
}

/** Moves or zooms a view by a key, within the data; null means everything. */
export function steered(view: View | null, all: View, key: string): View | null | undefined {
  const now = view ?? all;
  const span = now.to - now.from;
  const whole = all.to - all.from;
  const at = (from: number, to: number): View | null => {
    const size = Math.min(whole, to - from);
    if (size >= whole) return null;
    const start = Math.min(Math.max(from, all.from), all.to - size);
    return { from: start, to: start + size };
  };
  switch (key) {
    case "ArrowLeft":
      return at(now.from - span / 4, now.to - span / 4);
    case "ArrowRight":
      return at(now.from + span / 4, now.to + span / 4);
    case "+":
    case "=":
      return at(now.from + span / 4, now.to - span / 4);
    case "-":
      return at(now.from - span / 2, now.to + span / 2);
    case "0":
    case "Home":
      return null;
    default:
      return undefined;
  }
}

/** At most `most` items, evenly spread, including both ends: short enough for a table. */
export function sampled<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  const step = (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, row) => items[Math.round(row * step)] as T);
}
