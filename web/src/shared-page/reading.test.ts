import { describe, expect, it } from "vitest";
import { frameOf, readingAt, type Series } from "./reading";

const frame = frameOf("0 100 10 110 1000 2000 0 50");
const series: Series = {
  times: [1000, 1400, 2000],
  values: [0, 25, 50],
  unit: "money",
  currency: "USD",
  isDrawdown: false,
};

describe("the pointer on a curve", () => {
  it("finds the point that is nearest", () => {
    if (!frame) throw new Error("no frame");
    expect(readingAt(38, frame, series)).toEqual({
      x: 40,
      y: 60,
      time: 1400,
      text: "25.00\u00a0USD",
    });
    expect(readingAt(95, frame, series)?.time).toBe(2000);
    expect(readingAt(-20, frame, series)?.time).toBe(1000);
    expect(readingAt(5000, frame, series)?.time).toBe(2000);
  });
  it("reads percents as they are meant", () => {
    if (!frame) throw new Error("no frame");
    const percent = { ...series, unit: "percent" };
    expect(readingAt(40, frame, percent)?.text).toBe("25.00 %");
    const deep = { ...percent, isDrawdown: true, values: [0, -0.25, -0.5] };
    expect(readingAt(40, frame, deep)?.text).toBe("\u221225.00 %");
  });
  it("finds nothing where nothing is", () => {
    if (!frame) throw new Error("no frame");
    expect(readingAt(40, frame, { ...series, times: [], values: [] })).toBeNull();
    expect(frameOf("1 2 3")).toBeNull();
    expect(frameOf(undefined)).toBeNull();
  });
});
