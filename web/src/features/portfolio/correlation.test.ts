import { describe, expect, it } from "vitest";
import { coefficient, extremesOf, groundOf, pairsOf } from "./correlation";

const matrix = {
  models: ["a", "b", "c"],
  values: [
    [1, 0.5, -0.2],
    [0.5, 1, null],
    [-0.2, null, 1],
  ],
  days: [
    [30, 20, 15],
    [20, 20, 5],
    [15, 5, 15],
  ],
  least_days: 10,
  left_out: 0,
};

describe("correlations", () => {
  it("are listed once for every two models, the most alike first", () => {
    expect(pairsOf(matrix)).toEqual([
      { one: "a", other: "b", value: 0.5, days: 20 },
      { one: "a", other: "c", value: -0.2, days: 15 },
    ]);
  });
  it("name a pair at one end only", () => {
    const pairs = pairsOf(matrix);
    expect(extremesOf(pairs, 5)).toEqual({ alike: [pairs[0]], unlike: [pairs[1]] });
    expect(extremesOf(pairs.slice(0, 1), 5)).toEqual({ alike: [pairs[0]], unlike: [] });
  });
  it("are written with a true minus, which nothing has not", () => {
    expect([coefficient(-0.345), coefficient(-0.001), coefficient(0.5, true)]).toEqual([
      "\u22120.34",
      "0.00",
      ".50",
    ]);
  });
  it("have no colour where they are not known", () => {
    expect(groundOf(null)).toBe("transparent");
    expect(groundOf(-1)).toContain("--orange) 42%");
  });
});
