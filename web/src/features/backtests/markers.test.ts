import { describe, expect, it } from "vitest";
import { bucketed, counted, priceOf } from "./markers";
import type { Trade } from "./shapes";

const trade = (time: number, side: string, more: Partial<Trade> = {}): Trade => ({
  index: time,
  symbol: "A",
  side,
  time,
  ...more,
});
const alternating = Array.from({ length: 2_000 }, (_, at) => trade(at, at % 2 ? "sell" : "buy"));

describe("bucketed", () => {
  it("keeps both sides on a phone, however dense trades are", () => {
    const markers = bucketed(alternating, { from: 0, to: 1_999 }, 360);
    const buys = markers.filter(({ side }) => side === "buy");
    expect(buys.length).toBe(Math.floor(360 / 14));
    expect(markers.length).toBe(2 * buys.length);
    expect(markers.reduce((sum, { count }) => sum + count, 0)).toBe(2_000);
  });

  it("draws each by itself once there is room", () => {
    const markers = bucketed(alternating, { from: 100, to: 103 }, 800);
    expect(markers.map(({ time, side, count }) => [time, side, count])).toEqual([
      [100, "buy", 1],
      [101, "sell", 1],
      [102, "buy", 1],
      [103, "sell", 1],
    ]);
  });

  it("weighs prices by size and stands at a trade that is there", () => {
    const [marker] = bucketed(
      [
        trade(1, "BUY", { price: 10, size: 3 }),
        trade(2, "Buy", { price: 20, size: 1 }),
        trade(3, "buy"),
      ],
      { from: 0, to: 1_000 },
      100,
    );
    expect(marker).toEqual({ time: 2, side: "buy", count: 3, price: 12.5 });
  });

  it("leaves out what is outside, has no side, or has no room", () => {
    expect(bucketed([trade(5, "buy"), trade(1, "hold")], { from: 0, to: 4 }, 100)).toEqual([]);
    expect(bucketed([trade(5, "buy")], { from: 5, to: 5 }, 100)).toHaveLength(1);
    expect(bucketed([trade(5, "buy")], { from: 0, to: 9 }, 0)).toEqual([]);
    expect(bucketed([trade(5, "buy")], { from: 9, to: 0 }, 100)).toEqual([]);
  });
});

it("counts what is in view", () => {
  expect(counted(alternating, { from: 0, to: 9 })).toEqual({ buys: 5, sells: 5 });
});

it("prefers the price at which it was executed", () => {
  expect(priceOf(trade(1, "buy", { price: 1, executionPrice: 2 }))).toBe(2);
  expect(priceOf(trade(1, "buy"))).toBeNull();
});
