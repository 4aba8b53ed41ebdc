/** The correlation matrix in words and colours: the pairs that are most alike and least alike. */
import type { Schemas } from "~/api/client";

export type Correlations = Schemas["Correlations"];

export interface Pair {
  one: string;
  other: string;
  value: number;
  days: number;
}

const MINUS = "\u2212";
/** In percent, on which a number is still readable. */
const FULLEST = 42;

/** Every two models once, the most alike first. */
export function pairsOf({ models, values, days }: Correlations): Pair[] {
  const found: Pair[] = [];
  models.forEach((one, row) => {
    models.slice(0, row).forEach((other, column) => {
      const value = values[row]?.[column] ?? null;
      if (value === null) return;
      found.push({ one: other, other: one, value, days: days[row]?.[column] ?? 0 });
    });
  });
  return found.sort((a, b) => b.value - a.value);
}

/** Up to `most` pairs from both ends, each only once. */
export function extremesOf(
  pairs: readonly Pair[],
  most: number,
): { alike: Pair[]; unlike: Pair[] } {
  const each = Math.min(most, Math.ceil(pairs.length / 2));
  const alike = pairs.slice(0, each);
  return { alike, unlike: pairs.slice(Math.max(each, pairs.length - most)).toReversed() };
}

/** Two decimals; a cell of a large matrix has no room for the zero in front. */
export function coefficient(value: number, brief = false): string {
  const digits = Math.abs(value).toFixed(2);
  const sign = value < 0 && /[1-9]/.test(digits) ? MINUS : "";
  return `${sign}${brief ? digits.replace(/^0\./, ".") : digits}`;
}

/** The background of a cell as a CSS colour: blue for alike, orange for opposite. */
export function groundOf(value: number | null): string {
  if (value === null) return "transparent";
  const part = Math.round(Math.min(1, Math.abs(value)) * FULLEST);
  return `color-mix(in oklab, var(--${value > 0 ? "azure" : "orange"}) ${part}%, transparent)`;
}
