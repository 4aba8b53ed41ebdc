/** The value under the pointer on a curve that the server drew. Pure functions, without the page. */
import { hundredths, money } from "~/format/numbers";

/** The position of a curve in its drawing, and the values at its edges. */
export interface Frame {
  left: number;
  right: number;
  top: number;
  foot: number;
  start: number;
  end: number;
  low: number;
  high: number;
}

export interface Series {
  times: readonly number[];
  values: readonly number[];
  unit: string;
  currency: string;
  isDrawdown: boolean;
}

export interface Reading {
  x: number;
  y: number;
  time: number;
  text: string;
}

export function frameOf(said: string | undefined): Frame | null {
  const numbers = numbersIn(said);
  if (numbers.length !== 8 || numbers.some(Number.isNaN)) return null;
  const [left = 0, right = 0, top = 0, foot = 0, start = 0, end = 0, low = 0, high = 0] = numbers;
  return { left, right, top, foot, start, end, low, high };
}

export function numbersIn(said: string | undefined): number[] {
  return (said ?? "").split(" ").filter(Boolean).map(Number);
}

/** The point nearest to an x coordinate of the drawing. */
export function readingAt(x: number, frame: Frame, series: Series): Reading | null {
  const share = (x - frame.left) / (frame.right - frame.left);
  const place = nearest(series.times, frame.start + share * (frame.end - frame.start));
  const [time, value] = [series.times[place], series.values[place]];
  if (time === undefined || value === undefined) return null;
  const across = (time - frame.start) / (frame.end - frame.start);
  const up = (frame.high - value) / (frame.high - frame.low);
  return {
    x: Math.min(
      Math.max(frame.left + across * (frame.right - frame.left), frame.left),
      frame.right,
    ),
    y: frame.top + up * (frame.foot - frame.top),
    time,
    text: formatValue(value, series),
  };
}

export function formatValue(value: number, { unit, currency, isDrawdown }: Series): string {
  if (unit === "money") return money(value, currency || null);
  if (unit === "percent") return `${hundredths(isDrawdown ? value * 100 : value)} %`;
  return hundredths(value);
}

function nearest(times: readonly number[], moment: number): number {
  let [low, high] = [0, times.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < moment) low = middle + 1;
    else high = middle;
  }
  const [before, after] = [times[low - 1], times[low]];
  return before !== undefined && after !== undefined && moment - before < after - moment
    ? low - 1
    : low;
}
