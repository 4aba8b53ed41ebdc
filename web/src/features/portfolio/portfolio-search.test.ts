import { describe, expect, it } from "vitest";
import { portfolioSearch } from "./portfolio-search";

describe("the address of a portfolio", () => {
  it("holds currency, curve, range and benchmark", () => {
    const search = { currency: "eur", show: "return", from: 1, to: 2, benchmark: "BTC-USD" };
    expect(portfolioSearch(search)).toEqual({ ...search, currency: "EUR" });
  });
  it("leaves out everything that is not such a choice", () => {
    const wrong = { currency: "E U", show: "value", from: 2, to: 1, benchmark: "", other: 1 };
    expect(portfolioSearch(wrong)).toEqual({});
    expect(portfolioSearch({ from: 1, to: "x" })).toEqual({});
  });
});
