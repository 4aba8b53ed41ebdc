import { expect, it } from "vitest";
import { grew } from "./unexplained";

const points = (...values: (number | null)[]) => values.map((value, time) => ({ time, value }));

it("knows whether the difference to the exchange has grown, whatever its sign", () => {
  expect(grew(points(-1, 4, -7))).toBe(true);
  expect(grew(points(7, null, -1))).toBe(false);
  expect(grew(points(3))).toBe(false);
  expect(grew([])).toBe(false);
});
