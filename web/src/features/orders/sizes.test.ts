import { expect, it } from "vitest";
import type { Order } from "~/api/types";
import { feeOf, kindOf, sizeOf, worthOf } from "./sizes";

const filled = (size: number | null) => ({ size }) as Order["fill"];

it("shows what was filled of what was ordered", () => {
  expect(sizeOf({ size: 10, fill: filled(10) })).toBe("10");
  expect(sizeOf({ size: 10, fill: filled(4) })).toBe("4 / 10");
  expect(sizeOf({ size: 10, fill: null })).toBe("0 / 10");
  expect(sizeOf({ size: null, fill: filled(2.5) })).toBe("2.5");
  expect(sizeOf({ size: null, fill: null })).toBe("\u2013");
});

it("says at which price a stop order becomes active", () => {
  expect(kindOf({ type: "spot-stop", active: 95.5 })).toBe("stop at 95.50");
  expect(kindOf({ type: "spot-market", active: null })).toBe("market");
});

it("values what was filled, with the multiplier of a contract", () => {
  const fill = { size: 3, price: 20, currency: "USD" } as Order["fill"];
  expect(worthOf({ fill })).toBe("60.00");
  expect(worthOf({ fill, multiplier: "50" })).toBe("3,000.00");
  expect(worthOf({ fill: null })).toBe("\u2013");
});

it("writes amounts with the digits of their currency, and none but zero as 0.00", () => {
  const fill = { size: 0.1, price: 0.033, fee: 0.000003, currency: "BTC" } as NonNullable<
    Order["fill"]
  >;
  expect([worthOf({ fill }), feeOf({ fill })]).toEqual(["0.0033", "0.000003"]);
  const unknown = { ...fill, currency: null };
  expect([worthOf({ fill: unknown }), feeOf({ fill: unknown })]).toEqual(["0.0033", "0.000003"]);
  const dollars = { ...fill, price: 123.456, fee: 0.125, currency: "USD" };
  expect([worthOf({ fill: dollars }), feeOf({ fill: dollars })]).toEqual(["12.35", "0.13"]);
});
