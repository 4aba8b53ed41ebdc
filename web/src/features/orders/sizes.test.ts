import { expect, it } from "vitest";
import type { Order } from "~/api/types";
import { sizeOf } from "./sizes";

const filled = (size: number | null) => ({ size }) as Order["fill"];

it("shows what was filled of what was ordered", () => {
  expect(sizeOf({ size: 10, fill: filled(10) })).toBe("10");
  expect(sizeOf({ size: 10, fill: filled(4) })).toBe("4 / 10");
  expect(sizeOf({ size: 10, fill: null })).toBe("0 / 10");
  expect(sizeOf({ size: null, fill: filled(2.5) })).toBe("2.5");
  expect(sizeOf({ size: null, fill: null })).toBe("\u2013");
});
