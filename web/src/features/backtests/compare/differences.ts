/** The arguments of several backtests side by side, those that differ first. */
import { shown } from "~/features/backtests/start/arguments";
import type { Arguments } from "~/features/backtests/types";

export interface Difference {
  name: string;
  values: string[];
  differs: boolean;
}

/** A backtest that was not run here has no arguments, which is not a difference. */
export function differences(all: readonly (Arguments | null)[]): Difference[] {
  const names = [...new Set(all.flatMap((one) => Object.keys(one ?? {})))];
  const rows = names.map((name) => {
    const values = all.map((one) => (one && name in one ? shown(one[name]) : "–"));
    const known = all.flatMap((one, place) => (one ? [values[place]] : []));
    return { name, values, differs: new Set(known).size > 1 };
  });
  return rows.toSorted((one, other) => Number(other.differs) - Number(one.differs));
}
