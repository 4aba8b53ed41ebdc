/** The pages of a model, and which of them an address belongs to. */
export const PAGES = [
  ["overview", "Overview"],
  ["orders", "Orders"],
  ["logs", "Log"],
  ["events", "Events"],
  ["screener", "Screener"],
  ["backtests", "Backtests"],
  ["versions", "Versions"],
  ["settings", "Settings"],
] as const;

/** One backtest has an address of its own, which existing clients open, and belongs to the list. */
export function pageOf(path: string): string {
  const [, , page = "", rest] = path.split("/").filter(Boolean);
  return rest === "backtest" ? "backtests" : page;
}
