/** The pages of a model, and which of them an address belongs to. */
import type { Model } from "~/api/queries";
import { topicsOf } from "~/live/refresh";

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

/** A page that can only be empty has no tab: a screener ranks symbols, and a strategy trades. */
export function pagesOf({ type, counts }: Pick<Model, "type" | "counts">) {
  const isScreener = type === "screener";
  const hasOrders = Object.keys(counts).some((kind) => topicsOf(kind).includes("orders"));
  return PAGES.filter(([page]) => {
    if (page === "screener") return isScreener || counts["screener-result"];
    return !(isScreener && (page === "orders" || page === "trades")) || hasOrders;
  });
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
