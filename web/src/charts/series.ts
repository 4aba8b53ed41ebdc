/** Points made fit for a chart, and what to say of them to who does not see it. */
import type { Point } from "~/api/types";
import { gain } from "~/format/numbers";
import { stamp } from "~/format/times";

export interface Drawn {
  time: number;
  value: number;
}

/** In order and one per moment: the last that was said of it. */
export function drawable(points: readonly Point[]): Drawn[] {
  const found: Drawn[] = [];
  for (const { time, value } of points) {
    const last = found.at(-1);
    if (value === null || !Number.isFinite(value)) continue;
    if (last && time === last.time) found[found.length - 1] = { time, value };
    else if (!last || time > last.time) found.push({ time, value });
  }
  return found;
}

/** Where a moment lies between the points, in steps from the first: the axis counts in points. */
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

export function summary(points: readonly Drawn[], currency: string | null): string {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return "There is nothing to draw yet.";
  let [low, high] = [first, first];
  for (const point of points) {
    if (point.value < low.value) low = point;
    if (point.value > high.value) high = point;
  }
  const told = (point: Drawn) => `${gain(point.value, currency)} at ${stamp(point.time)}`;
  return `Profit and loss from ${stamp(first.time)} to ${stamp(last.time)}: it ends at ${gain(last.value, currency)}, was highest with ${told(high)} and lowest with ${told(low)}.`;
}

/** A selection for a table that can still be read: every so many, the last always. */
/** At most so many, evenly spread with both ends: a table that can be read. */
export function sampled<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  const step = (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, row) => items[Math.round(row * step)] as T);
}
