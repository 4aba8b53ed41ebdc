import { describe, expect, it } from "vitest";
import { joined } from "~/features/overview/pnl-figure";
import { drawable, placeOf, sampled, summary } from "./series";

const at = (...pairs: [number, number][]) => pairs.map(([time, value]) => ({ time, value }));

describe("a curve", () => {
  it("has one point per moment, in order, and no holes", () => {
    expect(drawable(at([1, 1], [1, 2], [0, 9], [2, Number.NaN], [3, 3]))).toEqual(
      at([1, 2], [3, 3]),
    );
  });
  it("knows where a moment lies between its points", () => {
    const points = at([0, 0], [10, 0], [30, 0]);
    expect([
      placeOf(points, -5),
      placeOf(points, 5),
      placeOf(points, 20),
      placeOf(points, 99),
    ]).toEqual([0, 0.5, 1.5, 2]);
    expect(placeOf([], 5)).toBe(0);
  });
  it("is thinned out with its end kept", () => {
    const points = at(
      ...Array.from({ length: 1_001 }, (_, place): [number, number] => [place, place]),
    );
    const some = sampled(points, 100);
    expect(some.length).toBe(100);
    expect(some.at(-1)).toEqual({ time: 1_000, value: 1_000 });
    expect(sampled([0, 1, 2, 3, 4, 5, 6, 7, 8], 3)).toEqual([0, 4, 8]);
    expect(sampled([1, 2], 3)).toEqual([1, 2]);
  });
  it("is told in words", () => {
    const words = summary(at([0, 1], [60, -5], [120, 3]), "USD");
    expect(words).toContain("ends at +3.00\u00a0USD");
    expect(words).toContain("lowest with \u22125.00");
    expect(summary([], null)).toContain("nothing to draw");
  });
  it("shows a part in full within the whole", () => {
    const whole = at([0, 0], [10, 1], [20, 2], [30, 3]);
    expect(joined(whole, at([9, 9], [11, 8], [21, 7]), [])).toEqual(
      at([0, 0], [9, 9], [11, 8], [21, 7], [30, 3]),
    );
  });
  it("is a line for orders where there is none", () => {
    expect(joined([], [], [{ time: 5 }, { time: 2 }])).toEqual(at([2, 0], [5, 0]));
  });
});
