import { describe, expect, it } from "vitest";
import { differences } from "./differences";

describe("differences", () => {
  it("puts what differs first", () => {
    expect(
      differences([
        { a: 1, b: 2 },
        { a: 1, b: 3 },
      ]),
    ).toEqual([
      { name: "b", values: ["2", "3"], differs: true },
      { name: "a", values: ["1", "1"], differs: false },
    ]);
  });

  it("does not take a backtest without arguments for different", () => {
    expect(differences([{ a: "x" }, null])).toEqual([
      { name: "a", values: ["x", "–"], differs: false },
    ]);
    expect(differences([{ a: 1 }, {}])[0]?.differs).toBe(true);
  });
});
