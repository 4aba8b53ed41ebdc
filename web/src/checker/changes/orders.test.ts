/** Honest reports about an order that rests for hours, and others that came too late. */
import { expect, it } from "vitest";
import { type LateWords, Order } from "./orders";

const HOUR = 3600;
const LIMIT = { symbol: '"A-USD"', side: '"buy"', size: "2.0", price: "60.0" };

/** What the last of some updates is listed with, an hour apart, after a limit order. */
function last(...updates: Record<string, string>[]): LateWords | null {
  const order = new Order();
  let found = null;
  for (const [place, said] of [LIMIT, ...updates].entries()) {
    const at = place * HOUR;
    const isPost = place === 0;
    const texts = new Map(Object.entries(said));
    found = order.take({
      isPost,
      isAssumed: true,
      time: at,
      receivedAt: at,
      texts,
    });
  }
  return found;
}

it("is silent about an order that is confirmed at its limit", () => {
  expect(last({ status: '"filled"' })).toBeNull();
  expect(last({ executionPrice: "60", fee: "0.1" })).toBeNull();
});

it("is silent about portions, each at its own time", () => {
  const first = { filled_size: "0.5", filled_avg_price: "60.0" };
  expect(last(first)).toBeNull();
  expect(
    last(first, { filled_size: "2.0", filled_avg_price: "59.5", status: '"filled"' }),
  ).toBeNull();
});

it("is silent about a retry", () => {
  expect(last({ executionPrice: "60.0" }, { executionPrice: "60.0" })).toBeNull();
});

it("says from what to what a later report changes it", () => {
  const found = last({ executionPrice: "60.0" }, { executionPrice: "190.0" });
  expect(found).toEqual({
    isFirst: false,
    seconds: 2 * HOUR,
    fields: ["executionPrice from 60.0 to 190.0"],
  });
});

it("lists an average that gives earlier portions another price, and a portion that is dated back", () => {
  const first = { filled_size: "1.5", filled_avg_price: "60.0" };
  expect(last(first, { filled_size: "2.0", filled_avg_price: "1.0" })).not.toBeNull();
  expect(last({ filled_size: "1.5", executionTime: "1.0" })).not.toBeNull();
});
