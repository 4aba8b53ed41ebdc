/** What a chart of several panes is made of, and which part of it to look at. No library in here. */

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
  kind: "line" | "area" | "below";
  dash?: number;
}

export interface Pane {
  id: string;
  /** Its share of the height. */
  weight: number;
  curves: readonly Curve[];
  written: (value: number) => string;
}

export interface View {
  from: number;
  to: number;
}

/** In order and one per moment: the last that was said of it. */
export function drawn(points: readonly PanePoint[]): PanePoint[] {
  const found: PanePoint[] = [];
  for (const point of points) {
    const last = found.at(-1);
    if (last && point.time === last.time) found[found.length - 1] = point;
    else if (!last || point.time > last.time) found.push(point);
  }
  return found;
}

/** The whole curve, with the part that is looked at in all its detail. */
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
 * The stretch whose detail is worth asking for, given what is looked at and what was asked for
 * already: the same one while it still serves, none where the whole shows all there is.
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

/** Moves and scales a view within what there is; null is all of it. */
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
