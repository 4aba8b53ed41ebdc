/** The pages of a model, and which of them an address belongs to. */
import type { Model } from "~/api/queries";
import { type Topic, topicsOf } from "~/live/refresh";

export const PAGES = [
  ["overview", "Overview"],
  ["prices", "Prices"],
  ["orders", "Orders"],
  ["trades", "Trades"],
  ["logs", "Log"],
  ["events", "Events"],
  ["screener", "Screener"],
  ["backtests", "Backtests"],
  ["versions", "Versions"],
  ["settings", "Settings"],
] as const;

/** Kinds of events from which the prices page draws its line. */
const PRICED = ["mark-price", "position"];

/** A page that can only be empty has no tab, unless it is open: a screener ranks symbols, and a strategy trades. */
export function pagesOf({ type, counts }: Pick<Model, "type" | "counts">, here = "") {
  const kinds = Object.keys(counts);
  const has = (topic: Topic) => kinds.some((kind) => topicsOf(kind).includes(topic));
  const isScreener = type === "screener";
  const isFilled: Partial<Record<(typeof PAGES)[number][0], boolean>> = {
    screener: isScreener || has("screener"),
    prices: !isScreener || has("orders") || kinds.some((kind) => PRICED.includes(kind)),
    orders: !isScreener || has("orders"),
    trades: !isScreener || has("orders"),
    backtests: !isScreener || has("backtests"),
  };
  return PAGES.filter(([page]) => page === here || (isFilled[page] ?? true));
}

/** What the tab of the browser calls a page; null for one that has a name of its own. */
export function titleOf(path: string): string | null {
  const [, , page = "", rest] = path.split("/").filter(Boolean);
  return rest ? null : (PAGES.find(([name]) => name === page)?.[1] ?? "");
}

/** The page of one backtest has its own address, which existing clients open; its tab is the list. */
export function pageOf(path: string): string {
  const [, , page = "", rest] = path.split("/").filter(Boolean);
  return rest === "backtest" ? "backtests" : page;
}
