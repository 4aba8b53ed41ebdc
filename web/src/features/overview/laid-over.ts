/** A live record laid over a backtest: in return where the capital is known, else in money. */
import type { Axis } from "~/charts/axis";
import { type PanePoint, type View, valueAt } from "~/charts/panes";

export interface Laid {
  live: PanePoint[];
  tested: PanePoint[];
  /** From the first moment to the last of both. */
  all: View;
  /** The stretch that both cover, over which their results can be compared. */
  common: View;
}

type Known = { time: number; value: number };

/**
 * By the calendar both begin at nothing with the first moment they have in common; from the start,
 * each with its own first value. Null where there is nothing in common.
 */
export function laidOver(
  live: readonly PanePoint[],
  account: readonly PanePoint[],
  isReturn: boolean,
  axis: Axis,
): Laid | null {
  const [own, tested] = [known(live), known(account)];
  const begin = own[0];
  if (!begin || tested.length < 2 || own.length < 2) return null;
  // A return is a growth of 1 at its start, so that both are rebased in the same way.
  const grown = isReturn ? own.map(({ time, value }) => ({ time, value: 1 + value })) : own;
  return axis === "start"
    ? fromStart(isReturn ? [{ ...begin, value: 1 }, ...grown] : grown, tested, isReturn)
    : byCalendar(grown, tested, isReturn);
}

function fromStart(live: Known[], tested: Known[], isReturn: boolean): Laid | null {
  const shifted = [live, tested].map((points) => {
    const [start, base] = [points[0]?.time ?? 0, points[0]?.value ?? 0];
    return points.map(({ time, value }) => ({
      time: time - start,
      value: rebased(value, base, isReturn),
    }));
  });
  const [own = [], other = []] = shifted;
  const ends = shifted.map((points) => points.at(-1)?.time ?? 0);
  const [all, common] = [Math.max(...ends), Math.min(...ends)];
  if (!(common > 0)) return null;
  return { live: own, tested: other, all: { from: 0, to: all }, common: { from: 0, to: common } };
}

function byCalendar(live: Known[], tested: Known[], isReturn: boolean): Laid | null {
  const both = [live, tested];
  const from = Math.max(...both.map((points) => points[0]?.time ?? 0));
  const to = Math.min(...both.map((points) => points.at(-1)?.time ?? 0));
  if (!(from < to)) return null;
  const [own = [], other = []] = both.map((points) => {
    const base = valueAt(points, from) ?? 0;
    const inside = points.filter(({ time }) => time > from && time <= to);
    return [{ time: from, value: base }, ...inside].map(({ time, value }) => ({
      time,
      value: rebased(value, base, isReturn),
    }));
  });
  return { live: own, tested: other, all: { from, to }, common: { from, to } };
}

/** The values of both at the end of a stretch; of a stretch that neither reaches, the last before. */
export function resultsAt({ live, tested }: Laid, end: number): [number | null, number | null] {
  const at = (points: readonly PanePoint[]) =>
    points.findLast(({ time }) => time <= end)?.value ?? null;
  return [at(live), at(tested)];
}

function rebased(value: number, base: number, isReturn: boolean): number {
  if (!isReturn) return value - base;
  return base > 0 ? value / base - 1 : 0;
}

function known(points: readonly PanePoint[]): Known[] {
  return points.flatMap(({ time, value }) => (value === null ? [] : [{ time, value }]));
}
