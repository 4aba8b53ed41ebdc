/** A month as weeks from Monday to Sunday, and which months have a round trip. */
import type { Group } from "./queries";

export interface Day {
  /** Of the month; null before its first and after its last. */
  number: number | null;
  group: Group | null;
}

/** Months that have any, such as "2024-01", the newest last. */
export function monthsOf(days: readonly Group[]): string[] {
  return [...new Set(days.map(({ key }) => key.slice(0, 7)))].sort();
}

export function weeksOf(month: string, days: readonly Group[]): Day[][] {
  const [year = 1970, of = 1] = month.split("-").map(Number);
  const first = new Date(Date.UTC(year, of - 1, 1));
  const length = new Date(Date.UTC(year, of, 0)).getUTCDate();
  const before = (first.getUTCDay() + 6) % 7;
  const known = new Map(days.map((one) => [one.key, one]));
  const cells = Array.from({ length: Math.ceil((before + length) / 7) * 7 }, (_, place): Day => {
    const number = place - before + 1;
    if (number < 1 || number > length) return { number: null, group: null };
    return { number, group: known.get(`${month}-${String(number).padStart(2, "0")}`) ?? null };
  });
  return Array.from({ length: cells.length / 7 }, (_, week) => cells.slice(week * 7, week * 7 + 7));
}

/** Of the round trips of a month; null where a profit is not known. */
export function sumOf(
  month: string,
  days: readonly Group[],
): { trips: number; profit: number | null } {
  const own = days.filter(({ key }) => key.startsWith(month));
  const profits = own.map(({ profit }) => profit);
  return {
    trips: own.reduce((sum, one) => sum + one.round_trips, 0),
    profit: profits.includes(null)
      ? null
      : profits.reduce<number>((sum, one) => sum + (one ?? 0), 0),
  };
}
