/** How metrics are formatted, grouped and ranked. */
import { days, gain, integer, money, percent, ratio } from "~/format/numbers";
import { stamp } from "~/format/times";
import type { Measure } from "./types";

const NOTHING = "–";

/** The most important metrics. */
export const HEADLINES = [
  "total_return",
  "cagr",
  "sharpe",
  "max_drawdown",
  "volatility",
  "calmar",
  "win_rate_trades",
  "profit_factor",
] as const;

/** The server lists metrics in the order people read them; each group begins with one of these. */
const GROUPS: Record<string, string> = {
  total_return: "Return",
  sharpe: "Risk",
  trades: "Trading",
};

/** Metrics whose sign means a gain or a loss. */
const SIGNED = new Set([
  "total_return",
  "cagr",
  "profit",
  "return_on_exposure",
  "expected_daily",
  "expected_monthly",
  "expected_yearly",
  "month_to_date",
  "three_months",
  "six_months",
  "year_to_date",
  "one_year",
  "best_day",
  "worst_day",
  "best_month",
  "worst_month",
  "best_year",
  "worst_year",
  "expectancy",
  "expectancy_percent",
  "best_trade",
  "worst_trade",
]);

export interface Named extends Measure {
  name: string;
}

export interface Group {
  title: string;
  measures: Named[];
}

export function isSigned(name: string): boolean {
  return SIGNED.has(name);
}

/** A value formatted by its type. A value that is not a number is shown unchanged. */
export function formatMetric(
  value: number | string | null | undefined,
  type: string,
  { currency = null, signed = false }: { currency?: string | null; signed?: boolean } = {},
): string {
  if (value === null || value === undefined || value === "") return NOTHING;
  if (typeof value === "string") return value;
  if (!Number.isFinite(value)) return NOTHING;
  switch (type) {
    case "percent":
      return signed ? signedPercent(value) : percent(value);
    case "money":
      return signed ? gain(value, currency) : money(value, currency);
    case "count":
      return integer(value);
    case "days":
      return days(value);
    case "time":
      return stamp(value).slice(0, 10);
    default:
      return ratio(value);
  }
}

/** A fraction as a signed percentage; a value that rounds to zero has no sign. */
export function signedPercent(share: number): string {
  const text = percent(Math.abs(share));
  if (!/[1-9]/.test(text)) return text;
  return `${share > 0 ? "+" : "\u2212"}${text}`;
}

export function grouped(computed: Record<string, Measure>): Group[] {
  const groups: Group[] = [];
  for (const [name, measure] of Object.entries(computed)) {
    const title = GROUPS[name];
    if (title || groups.length === 0) groups.push({ title: title ?? "Metrics", measures: [] });
    groups.at(-1)?.measures.push({ name, ...measure });
  }
  return groups;
}

export function headlines(computed: Record<string, Measure>): Named[] {
  return HEADLINES.flatMap((name) => {
    const measure = computed[name];
    return measure ? [{ name, ...measure }] : [];
  });
}

/** The positions of the worst values, next to the best ones from the server; none if all are equal. */
export function worstOf(values: readonly (number | null)[], best: readonly number[]): number[] {
  const top = best[0] === undefined ? null : (values[best[0]] ?? null);
  if (top === null) return [];
  const known = values.filter((value): value is number => value !== null);
  const worst = top >= Math.max(...known) ? Math.min(...known) : Math.max(...known);
  if (worst === top) return [];
  return values.flatMap((value, place) => (value === worst ? [place] : []));
}

/** The deflated Sharpe ratio in a sentence. */
export function verdict(count: number, deflated: number | null): string {
  if (deflated === null) return "";
  const tried = count === 1 ? "the only backtest" : `the best of ${integer(count)} backtests`;
  if (deflated >= 0.95) return `Unlikely to be luck, even as ${tried}.`;
  if (deflated >= 0.5) return `It may be luck, as ${tried}.`;
  return `Luck alone explains it, as ${tried}.`;
}
