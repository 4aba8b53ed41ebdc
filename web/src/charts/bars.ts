/** Bars of prices by column, as the server sends them. Nothing here draws. */
import type { Extent } from "./values";

interface Span {
  from: number;
  to: number;
}

interface Close {
  time: number;
  value: number | null;
}

export interface Bars {
  /** Seconds of each bar, or of the finest of them. */
  interval: number;
  /** Seconds of each bar where they differ. */
  intervals?: readonly number[] | null;
  /** When each begins. */
  time: readonly number[];
  open: readonly number[];
  high: readonly number[];
  low: readonly number[];
  close: readonly number[];
}

export function widthOf({ interval, intervals }: Bars, place: number): number {
  return intervals?.[place] ?? interval;
}

/** The first bar that ends within a view, and the first that begins after it. */
export function shownBars(bars: Bars, { from, to }: Span): [number, number] {
  // Bars do not overlap: only the one that began last before the view can reach into it.
  const before = after(bars.time, from) - 1;
  const reaches = before >= 0 && (bars.time[before] ?? 0) + widthOf(bars, before) > from;
  return [reaches ? before : before + 1, after(bars.time, to)];
}

export function extentOfBars(bars: Bars, view: Span): Extent | null {
  const [first, end] = shownBars(bars, view);
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = first; at < end; at += 1) {
    low = Math.min(low, bars.low[at] ?? low);
    high = Math.max(high, bars.high[at] ?? high);
  }
  return low <= high ? { low, high } : null;
}

/** Open, high, low and close of the bar at a moment, or of the last; null in a gap. */
export function candleAt(bars: Bars, at: number | null): [string, number][] | null {
  const place = at === null ? bars.time.length - 1 : after(bars.time, at) - 1;
  const start = bars.time[place];
  if (start === undefined || (at !== null && at >= start + widthOf(bars, place))) return null;
  const columns = { O: bars.open, H: bars.high, L: bars.low, C: bars.close };
  return Object.entries(columns).map(([name, values]) => [name, values[place] ?? 0]);
}

/**
 * The closes as a line, which breaks where bars are missing. The close of a bar that is still growing
 * is known up to now, not at its end.
 */
export function closesOf(bars: Bars, now = Number.POSITIVE_INFINITY): Close[] {
  const found: Close[] = [];
  bars.time.forEach((start, place) => {
    const ended = found.at(-1)?.time;
    if (ended !== undefined && start - ended > bars.interval * 0.5)
      found.push({ time: ended + bars.interval * 0.01, value: null });
    const end = Math.max(start, Math.min(start + widthOf(bars, place), now));
    found.push({ time: end, value: bars.close[place] ?? null });
  });
  return found;
}

/** The first place whose time is after a moment. */
function after(times: readonly number[], moment: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= moment) low = middle + 1;
    else high = middle;
  }
  return low;
}
