/** Positions that the model reports, beside those of the books. */
import type { Check } from "~/api/types";

/** The newest check of each symbol, if it disagrees; a later one that agrees settles the earlier. */
export function disagreeing(checks: readonly Check[]): Check[] {
  const newest = new Map<string, Check>();
  for (const one of checks) {
    const known = newest.get(one.symbol);
    if (!known || one.time > known.time) newest.set(one.symbol, one);
  }
  return [...newest.values()].filter((one) => one.difference !== 0);
}
