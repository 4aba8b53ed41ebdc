/** A backtest in JavaScript, with its log, result and status connected by an id. */
import { push } from "./push.mjs";

const DAY = 86400;
const id = process.argv[2] ?? `js-${Date.now()}`;
const start = 1700000000;
const prices = Array.from({ length: 120 }, (_, day) => 100 + 10 * Math.sin(day / 9) + day / 4);

const trades = [];
const values = [];
let [cash, held] = [10_000, 0];
prices.forEach((price, day) => {
  const time = start + day * DAY;
  const rises = day > 0 && price > prices[day - 1];
  if (rises && held === 0) {
    held = cash / price;
    trades.push({ id: `${trades.length}`, symbol: "ETH-USD", side: "buy", size: held, price, time });
    cash = 0;
  } else if (!rises && held > 0) {
    trades.push({ id: `${trades.length}`, symbol: "ETH-USD", side: "sell", size: held, price, time });
    [cash, held] = [held * price, 0];
  }
  values.push({ time, value: cash + held * price });
});

await push("/v1/backtest/log", { backtest_id: id, line: `${prices.length} days`, type: "stdout" });
await push("/v1/backtest/result", {
  backtest_id: id,
  symbols: ["ETH-USD"],
  quote_asset: "USD",
  start_time: start,
  stop_time: start + (prices.length - 1) * DAY,
  account_values: values,
  trades,
  metrics: { trades: { value: trades.length, display_name: "Trades", type: "count" } },
});
await push("/v1/backtest/status", {
  backtest_id: id,
  successful: true,
  status_summary: "Completed",
  time_elapsed: performance.now() / 1000,
  description: "From JavaScript",
});
console.log(JSON.stringify({ backtest_id: id, final: values.at(-1).value, trades: trades.length }));
