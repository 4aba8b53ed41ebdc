/** Several backtests on one axis, ready to draw and to tell in words. */
import { closer } from "~/charts/panes";
import { percent } from "~/format/numbers";
import { stamp } from "~/format/times";
import { signedPercent } from "./measures";
import type { Comparison, Point } from "./shapes";

export interface AlignedLine {
  id: string;
  points: Point[];
  /** What it made of 100. */
  last: number | null;
  reason: string | null;
}

/** Without the nulls at both ends: a line begins and ends where its backtest does. */
export function linesOf({ times, items }: Pick<Comparison, "times" | "items">): AlignedLine[] {
  return items.map((item) => {
    const points: Point[] = [];
    times.forEach((time, place) => {
      const value = item.values[place];
      if (value !== null && value !== undefined) points.push({ time, value });
    });
    return {
      id: item.backtest_id,
      points,
      last: points.at(-1)?.value ?? null,
      reason: item.reason,
    };
  });
}

/** The lines with the part that is looked at in all its detail. */
export function inDetail(
  lines: readonly AlignedLine[],
  detail: readonly AlignedLine[],
): readonly AlignedLine[] {
  const near = new Map(detail.map(({ id, points }) => [id, points]));
  return lines.map((line) => ({
    ...line,
    points: [...closer(line.points, near.get(line.id) ?? [])],
  }));
}

/** One sentence for those who cannot see the lines. */
export function told(
  lines: readonly AlignedLine[],
  name: (id: string) => string,
  returns: readonly (number | null)[] = [],
): string {
  // The axis may end just before a curve does: what the whole returned is known better.
  const known = lines.flatMap(({ id, last }, place) => {
    const whole = returns[place] ?? (last === null ? null : last / 100 - 1);
    return last === null || whole === null ? [] : [{ id, whole }];
  });
  if (known.length === 0) return "None of them has an account value to draw.";
  const sorted = known.toSorted((one, other) => other.whole - one.whole);
  const texts = sorted.map(({ id, whole }) => `${name(id)} ${signedPercent(whole)}`);
  return `From 100 each, best first: ${texts.join(", ")}.`;
}

/** A moment of the axis in words: a date, or how long after each one's own start. */
export function axisText(time: number, align: "time" | "start"): string {
  if (align === "time") return stamp(time);
  const days = time / 86_400;
  return days >= 1 || days === 0 ? `day ${Math.floor(days)}` : `${Math.round(time / 60)} min`;
}

/** Every so many rows of a long axis, the last one always: a table that can be read. */
export function sampled<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  const step = (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, row) => items[Math.round(row * step)] as T);
}

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
