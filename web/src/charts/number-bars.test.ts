import { describe, expect, it } from "vitest";
import { barsOf } from "./number-bars";

describe("bars", () => {
  it("share one zero line, losses to its left", () => {
    expect(barsOf([3, -1, 0])).toEqual([
      { left: 25, width: 75 },
      { left: 0, width: 25 },
      { left: 25, width: 0 },
    ]);
  });
  it("begin at the left edge where nothing is negative", () => {
    expect(barsOf([2, 1])).toEqual([
      { left: 0, width: 100 },
      { left: 0, width: 50 },
    ]);
  });
  it("are none for what is not known, and empty where all is zero", () => {
    expect(barsOf([null, 0])).toEqual([null, { left: 0, width: 0 }]);
    expect(barsOf([])).toEqual([]);
  });
});
