/** A model in JavaScript that trades twice: lifecycle, orders, updates, logs. */
import { push } from "./push.mjs";

await push("/v1/model/lifecycle", { message: "Trading", running: true });
await push("/v1/model/used-exchange", { exchange: "kraken" });
await push("/v1/model/used-symbol", { symbol: "ETH-USD" });

const order = { symbol: "ETH-USD", exchange: "kraken" };
await push("/v1/live/spot-market", { ...order, id: "js-1", side: "buy", size: 2 });
await push("/v1/live/update-trade", {
  id: "js-1",
  executionPrice: 2000,
  executionTime: Date.now() / 1000,
  fee: 4,
  status: "filled",
});
await push("/v1/live/log", { line: "bought 2 ETH-USD", type: "stdout" });

await push("/v1/live/spot-limit", { ...order, id: "js-2", side: "sell", size: 1, price: 2100 });
await push("/v1/live/update-trade", { id: "js-2", filled_size: 1, status: "filled" });
await push("/v1/live/update-annotation", { id: "js-2", annotation: "half of it back" });
await push("/v1/live/event", { type: "review", args: { held: 1 }, response: { keep: true } });

await push("/v1/model/lifecycle", { message: "Done", running: false, end_at: Date.now() / 1000 });
