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
  /** Seconds of each bar. */
  interval: number;
  /** When each begins. */
  time: readonly number[];
  open: readonly number[];
  high: readonly number[];
  low: readonly number[];
  close: readonly number[];
}

/** The first bar that ends within a view, and the first that begins after it. */
export function shownBars({ time, interval }: Bars, { from, to }: Span): [number, number] {
  return [after(time, from - interval), after(time, to)];
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
  if (start === undefined || (at !== null && at >= start + bars.interval)) return null;
  const columns = { O: bars.open, H: bars.high, L: bars.low, C: bars.close };
  return Object.entries(columns).map(([name, values]) => [name, values[place] ?? 0]);
}

/** The closes as a line, which breaks where bars are missing. */
export function closesOf({ time, close, interval }: Bars): Close[] {
  const found: Close[] = [];
  time.forEach((start, place) => {
    const before = time[place - 1];
    if (before !== undefined && start - before > interval * 1.5)
      found.push({ time: before + interval + interval * 0.01, value: null });
    found.push({ time: start + interval, value: close[place] ?? null });
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
