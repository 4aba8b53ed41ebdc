/** The numbers that the chain has for kinds of events, and which of them the checker looks into. */

const NAMES = [
  "lifecycle",
  "used-symbol",
  "used-exchange",
  "event",
  "spot-market",
  "spot-limit",
  "spot-stop",
  "update-trade",
  "update-annotation",
  "screener-result",
  "log",
  "set-pnl",
  "set-custom-metric",
  "auto-pnl",
  "backtest-log",
  "backtest-status",
  "backtest-result",
  "mark-price",
  "cash",
  "position",
  "account-settings",
  "account-value",
  "statement",
];

export const NUMBERS: ReadonlyMap<string, number> = new Map(
  NAMES.map((name, place) => [name, place + 1]),
);

/** Kinds whose own time decides where they count in the books. */
export const DATED: ReadonlySet<string> = new Set([
  "spot-market",
  "spot-limit",
  "spot-stop",
  "mark-price",
  "cash",
  "position",
]);
