/** The curves of a report in sentences, for screen readers and as captions. */
import { signedPercent } from "~/features/backtests/metrics";
import type { Point } from "~/features/backtests/types";
import { percent } from "~/format/numbers";
import { stamp } from "~/format/times";

export interface Outline {
  first: number | null;
  last: number | null;
  low: Point | null;
  high: Point | null;
}

export function outline(points: readonly Point[]): Outline {
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
export function equityInWords(points: readonly Point[], money: (value: number) => string): string {
  const { first, last, low, high } = outline(points);
  if (first === null || last === null || !low || !high) return "There are no account values.";
  const change = first > 0 ? ` (${signedPercent(last / first - 1)})` : "";
  return (
    `The account went from ${money(first)} to ${money(last)}${change}; its highest was ` +
    `${money(high.value ?? 0)} on ${stamp(high.time).slice(0, 10)}, its lowest ` +
    `${money(low.value ?? 0)} on ${stamp(low.time).slice(0, 10)}.`
  );
}

export function drawdownInWords(points: readonly Point[]): string {
  const { low, last } = outline(points);
  if (!low || low.value === null || last === null) return "";
  if (low.value === 0) return "The account never fell below an earlier high.";
  const now =
    last < 0 ? `at the end it was ${percent(last)} below` : "at the end it was back at its high";
  return `The deepest drawdown was ${percent(low.value)} on ${stamp(low.time).slice(0, 10)}; ${now}.`;
}
