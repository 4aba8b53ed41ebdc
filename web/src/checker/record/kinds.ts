/** The numbers that the chain has for kinds of events. */

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
