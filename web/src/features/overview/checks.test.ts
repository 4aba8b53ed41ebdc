import { expect, it } from "vitest";
import type { Check } from "~/api/types";
import { disagreeing } from "./checks";

function check(symbol: string, time: number, reported: number, held: number): Check {
  return { symbol, time, reported, held, difference: reported - held, average_price: null };
}

it("shows the newest disagreement of each symbol, and none that was settled", () => {
  const checks = [
    check("A", 3, 5, 2),
    check("B", 3, 1, 1),
    check("B", 2, 4, 1),
    check("A", 1, 9, 2),
    check("C", 1, 2, 2),
  ];
  expect(disagreeing(checks)).toEqual([check("A", 3, 5, 2)]);
});
