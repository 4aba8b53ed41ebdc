/** The curve of profit and loss, and a sentence that describes it. */
import type { Point } from "~/api/types";
import { closer, drawn, type View } from "~/charts/panes";
import { gain } from "~/format/numbers";
import { stamp } from "~/format/times";

export interface PnlPoint {
  time: number;
  value: number;
}

/** The whole curve with the part in view in full detail. Without a curve, orders lie on a zero line. */
export function joined(
  whole: readonly Point[],
  detail: readonly Point[],
  orders: readonly { time: number }[],
): PnlPoint[] {
  const isEmpty = whole.length === 0 && detail.length === 0;
  const line = isEmpty ? orders.map(({ time }) => ({ time, value: 0 })) : [];
  const points = isEmpty ? line.toSorted((a, b) => a.time - b.time) : closer(whole, detail);
  return drawn(points).flatMap(({ time, value }) => (value === null ? [] : [{ time, value }]));
}

/** From the first point or mark to the last: each has its true place on the axis. */
export function spanned(
  points: readonly PnlPoint[],
  marks: readonly { time: number; until: number | null }[],
): View | null {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return null;
  const ends = marks.map(({ time, until }) => until ?? time);
  return {
    from: Math.min(first.time, ...marks.map(({ time }) => time)),
    to: Math.max(last.time, ...ends),
  };
}

export function summary(points: readonly PnlPoint[], currency: string | null): string {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return "There is no data in this range.";
  let [low, high] = [first, first];
  for (const point of points) {
    if (point.value < low.value) low = point;
    if (point.value > high.value) high = point;
  }
  const told = (point: PnlPoint) => `${gain(point.value, currency)} at ${stamp(point.time)}`;
  return `Profit and loss from ${stamp(first.time)} to ${stamp(last.time)}: it ended at ${gain(last.value, currency)}, peaked at ${told(high)} and was lowest at ${told(low)}.`;
}
