/** A screener's result: one flat object per symbol, each with the same keys. */
import { push } from "./push.mjs";

const closes = { AAPL: [180, 182, 185], MSFT: [410, 405, 400] };
const result = {};
for (const [symbol, prices] of Object.entries(closes)) {
  const change = prices.at(-1) / prices[0] - 1;
  result[symbol] = { change, buy: change > 0.02 };
}
await push("/v1/live/screener-result", { result });
