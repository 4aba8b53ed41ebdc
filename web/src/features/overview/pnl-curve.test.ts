import { describe, expect, it } from "vitest";
import { joined, spanned, summary } from "./pnl-curve";

const at = (...pairs: [number, number][]) => pairs.map(([time, value]) => ({ time, value }));

describe("a curve", () => {
  it("has one point per moment, in order, and no holes", () => {
    const whole = [...at([1, 1], [1, 2], [0, 9]), { time: 2, value: null }, { time: 3, value: 3 }];
    expect(joined(whole, [], [])).toEqual(at([1, 2], [3, 3]));
  });
  it("has an axis on which every version and downtime has its place", () => {
    const marks = [
      { time: 5, until: null },
      { time: 40, until: 60 },
    ];
    expect(spanned(at([10, 1], [50, 2]), marks)).toEqual({ from: 5, to: 60 });
    expect(spanned([], marks)).toBeNull();
  });
  it("is told in words", () => {
    const words = summary(at([0, 1], [60, -5], [120, 3]), "USD");
    expect(words).toContain("ended at +3.00\u00a0USD");
    expect(words).toContain("lowest at \u22125.00");
    expect(summary([], null)).toContain("no data");
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
