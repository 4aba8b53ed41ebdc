/** Several backtests on one axis, ready to draw and to tell in words. */
import { closer } from "~/charts/panes";
import { signedPercent } from "~/features/backtests/metrics";
import type { Comparison, Point } from "~/features/backtests/types";

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
