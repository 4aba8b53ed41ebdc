/** Colours and extremes of the table of monthly returns. */
import type { Schemas } from "~/api/client";
import { MONTHS } from "~/format/times";

export type Year = Schemas["Year"];

/** The strongest background colour, in percent, on which the number is still readable. */
const FULLEST = 42;
const FAINTEST = 6;

/** The size of a month that gets the full colour: one wild month must not bleach all others. */
export function strongest(years: readonly Year[]): number {
  return strongestOf(years.flatMap(({ months }) => months));
}

/** The same of any values. */
export function strongestOf(values: readonly (number | null | undefined)[]): number {
  const sizes = values
    .filter((value): value is number => value !== null && value !== undefined)
    .map(Math.abs)
    .sort((one, other) => one - other);
  return sizes[Math.max(0, Math.ceil(sizes.length * 0.95) - 1)] ?? 0;
}

/** The background of a cell as a CSS colour. */
export function ground(value: number | null | undefined, full: number): string {
  if (value == null || value === 0 || full <= 0) return "transparent";
  const share = Math.min(1, Math.abs(value) / full);
  const part = Math.round(FAINTEST + share * (FULLEST - FAINTEST));
  return `color-mix(in oklab, var(--${value > 0 ? "up" : "down"}) ${part}%, transparent)`;
}

export interface BestAndWorst {
  best: { name: string; value: number } | null;
  worst: { name: string; value: number } | null;
  won: number;
  lost: number;
}

export function extremes(years: readonly Year[]): BestAndWorst {
  const found: BestAndWorst = { best: null, worst: null, won: 0, lost: 0 };
  for (const { year, months } of years) {
    months.forEach((value, place) => {
      if (value == null) return;
      const one = { name: `${MONTHS[place]} ${year}`, value };
      if (!found.best || value > found.best.value) found.best = one;
      if (!found.worst || value < found.worst.value) found.worst = one;
      if (value > 0) found.won += 1;
      if (value < 0) found.lost += 1;
    });
  }
  return found;
}
