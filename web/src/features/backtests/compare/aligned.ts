/** Several backtests on one axis, ready to draw and to describe. */
import { closer, seenOf, type View } from "~/charts/panes";
import { signedPercent } from "~/features/backtests/metrics";
import type { Comparison, Point } from "~/features/backtests/types";

export interface AlignedLine {
  id: string;
  points: Point[];
  /** The last value of a curve that started at 100. */
  last: number | null;
  reason: string | null;
}

/** Drops the nulls at both ends: a line starts and ends with its backtest. */
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

/** The lines with the part in view in full detail. */
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

/** The lines within a view, each starting at 100 where the view begins. */
export function seenLines(lines: readonly AlignedLine[], view: View): AlignedLine[] {
  return lines.map((line) => {
    const points = seenOf(line.points, view);
    const [first, last] = [points[0]?.value, points.at(-1)?.value];
    return { ...line, points, last: first && last != null ? (last / first) * 100 : null };
  });
}

/** The chart in one sentence, for screen readers. */
export function linesInWords(
  lines: readonly AlignedLine[],
  name: (id: string) => string,
  returns: readonly (number | null)[] = [],
): string {
  // The axis may end just before a curve does, so the reported return is more exact.
  const known = lines.flatMap(({ id, last }, place) => {
    const whole = returns[place] ?? (last === null ? null : last / 100 - 1);
    return last === null || whole === null ? [] : [{ id, whole }];
  });
  if (known.length === 0) return "None of these backtests has account values to draw.";
  const sorted = known.toSorted((one, other) => other.whole - one.whole);
  const texts = sorted.map(({ id, whole }) => `${name(id)} ${signedPercent(whole)}`);
  return `Each starting at 100, best first: ${texts.join(", ")}.`;
}
