import { expect, it } from "vitest";
import type { Order } from "~/api/types";
import { filledValue, kindOf, sizeOf } from "./sizes";

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
  const fill = { size: 3, price: 20 } as Order["fill"];
  expect(filledValue({ fill })).toBe(60);
  expect(filledValue({ fill, multiplier: "50" })).toBe(3_000);
  expect(filledValue({ fill: null })).toBeNull();
});
