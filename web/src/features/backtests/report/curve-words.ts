/** The curves of a report in sentences, for screen readers and for everyone in a hurry. */
import { signedPercent } from "~/features/backtests/metrics";
import type { Point } from "~/features/backtests/types";
import { percent } from "~/format/numbers";
import { stamp } from "~/format/times";

export interface Told {
  first: number | null;
  last: number | null;
  low: Point | null;
  high: Point | null;
}

export function outline(points: readonly Point[]): Told {
  let [low, high]: [Point | null, Point | null] = [null, null];
  let first: number | null = null;
  let last: number | null = null;
  for (const point of points) {
    if (point.value === null) continue;
    first ??= point.value;
    last = point.value;
    if (low === null || point.value < (low.value ?? 0)) low = point;
    if (high === null || point.value > (high.value ?? 0)) high = point;
  }
  return { first, last, low, high };
}

/** The account's curve in a sentence. */
export function toldEquity(points: readonly Point[], money: (value: number) => string): string {
  const { first, last, low, high } = outline(points);
  if (first === null || last === null || !low || !high) return "There is no account value.";
  const change = first > 0 ? ` (${signedPercent(last / first - 1)})` : "";
  return (
    `The account went from ${money(first)} to ${money(last)}${change}; its highest was ` +
    `${money(high.value ?? 0)} on ${stamp(high.time).slice(0, 10)}, its lowest ` +
    `${money(low.value ?? 0)} on ${stamp(low.time).slice(0, 10)}.`
  );
}

export function toldDrawdown(points: readonly Point[]): string {
  const { low, last } = outline(points);
  if (!low || low.value === null || last === null) return "";
  if (low.value === 0) return "It never fell below an earlier high.";
  const now =
    last < 0 ? `at the end it was ${percent(last)} below` : "at the end it was at its high";
  return `The deepest fall was ${percent(low.value)} on ${stamp(low.time).slice(0, 10)}; ${now}.`;
}
