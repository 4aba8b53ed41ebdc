/** The data of a chart with several panes, and arithmetic on views. Independent of the chart library. */

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
  format: (value: number) => string;
  /** With every digit and its unit, where a table has room for them. */
  exact?: (value: number) => string;
}

export interface View {
  from: number;
  to: number;
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

/** The position of a time between the points, as a fractional index: the axis counts points. */
export function placeOf(points: readonly { time: number }[], time: number): number {
  let [low, high] = [0, points.length - 1];
  const first = points[0];
  const last = points[high];
  if (!first || !last || time <= first.time) return 0;
  if (time >= last.time) return high;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.time ?? 0) <= time) low = middle;
    else high = middle;
  }
  const [before, after] = [points[low]?.time ?? 0, points[high]?.time ?? 0];
  return low + (after > before ? (time - before) / (after - before) : 0);
}

/** At most `most` items, evenly spread, including both ends: short enough for a table. */
export function sampled<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  const step = (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, row) => items[Math.round(row * step)] as T);
}

const LEAST_ROOM = 0.16;
const MOST_ROOM = 0.6;

/** The share of a pane above its curves that its legend takes, in pixels of both. */
export function roomAbove(legend: number, height: number): number {
  if (height <= 0) return LEAST_ROOM;
  return Math.min(MOST_ROOM, Math.max(LEAST_ROOM, (legend + 10) / height));
}
