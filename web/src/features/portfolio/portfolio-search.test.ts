import { describe, expect, it } from "vitest";
import { portfolioSearch } from "./portfolio-search";

describe("the address of a portfolio", () => {
  it("holds currency, curve, ranges and benchmark", () => {
    const search = { currency: "eur", show: "return", range: "1W", against: "1_2", benchmark: "A" };
    expect(portfolioSearch(search)).toEqual({ ...search, currency: "EUR" });
  });
  it("still reads the range of older links", () => {
    expect(portfolioSearch({ from: 1, to: 2 })).toEqual({ range: "1_2" });
  });
  it("leaves out everything that is not such a choice", () => {
    const wrong = { currency: "E U", show: "value", range: {}, benchmark: "", other: 1 };
    expect(portfolioSearch(wrong)).toEqual({});
    expect(portfolioSearch({ from: 1, to: "x" })).toEqual({});
  });
});
