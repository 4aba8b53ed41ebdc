/** Sorts the list of backtests; rows without a value come last. */
import { nameOf, type Row } from "~/features/backtests/progress";

const COLUMNS = [
  "name",
  "status",
  "total_return",
  "sharpe",
  "max_drawdown",
  "trades",
  "created_at",
] as const;
export type Column = (typeof COLUMNS)[number];

export interface Sorting {
  column: Column;
  desc: boolean;
}

export const FIGURES = ["total_return", "sharpe", "max_drawdown", "trades"] as const;
export const NEWEST: Sorting = { column: "created_at", desc: true };

/** As the address has it: `-sharpe` is the largest first. The usual order has no text. */
export function textOf({ column, desc }: Sorting): string {
  const isUsual = column === NEWEST.column && desc === NEWEST.desc;
  return isUsual ? "" : `${desc ? "-" : ""}${column}`;
}

export function sortingOf(text: string): Sorting {
  const column = COLUMNS.find((one) => one === text.replace(/^-/, ""));
  return column ? { column, desc: text.startsWith("-") } : NEWEST;
}

export function figureOf({ backtest }: Row, name: string): number | null {
  const value = backtest.metrics.computed[name]?.value;
  return typeof value === "number" ? value : null;
}

export function sorted(rows: readonly Row[], { column, desc }: Sorting): Row[] {
  const way = desc ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [first, second] = [ranked(one, column), ranked(other, column)];
    if (first === null || second === null) return Number(first === null) - Number(second === null);
    if (typeof first === "string" || typeof second === "string") {
      return way * String(first).localeCompare(String(second), "en", { numeric: true });
    }
    return way * (first - second);
  });
}

/** Choosing the same column again reverses the order; numbers start with the largest. */
export function turned({ column, desc }: Sorting, chosen: Column): Sorting {
  if (column === chosen) return { column, desc: !desc };
  return { column: chosen, desc: chosen !== "name" && chosen !== "status" };
}

function ranked(row: Row, column: Column): number | string | null {
  if (column === "name") return nameOf(row.backtest, row.run);
  if (column === "status") return row.progress.label;
  return column === "created_at" ? row.backtest.created_at : figureOf(row, column);
}
