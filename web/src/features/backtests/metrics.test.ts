import { describe, expect, it } from "vitest";
import { formatMetric, grouped, headlines, signedPercent, verdict, worstOf } from "./metrics";
import type { Measure } from "./types";

const measure = (value: number | null, type = "number"): Measure => ({
  value,
  display_name: "A",
  type,
});

describe("written", () => {
  it("writes each type as people read it", () => {
    expect(formatMetric(0.0512, "percent")).toBe("5.12 %");
    expect(formatMetric(0.0512, "percent", { signed: true })).toBe("+5.12 %");
    expect(formatMetric(-0.0512, "percent", { signed: true })).toBe("−5.12 %");
    expect(formatMetric(1234.5, "money", { currency: "USD" })).toBe("1,234.50\u00a0USD");
    expect(formatMetric(-3, "money", { currency: "USD", signed: true })).toBe("−3.00\u00a0USD");
    expect(formatMetric(1234, "count")).toBe("1,234");
    expect(formatMetric(1.23456, "number")).toBe("1.23");
    expect(formatMetric(1_700_049_600, "time")).toBe("2023-11-15");
  });

  it("tells texts as they are and nothing as a dash", () => {
    expect(formatMetric("n/a", "percent")).toBe("n/a");
    expect(formatMetric(null, "number")).toBe("–");
    expect(formatMetric(Number.NaN, "number")).toBe("–");
  });

  it("shows small ratios instead of a zero", () => {
    expect(formatMetric(0.0123, "number")).toBe("0.0123");
    expect(signedPercent(0.000001)).toBe("0.00 %");
  });
});

describe("groups", () => {
  it("cuts the server's order where a group begins", () => {
    const computed = {
      total_return: measure(1),
      cagr: measure(2),
      sharpe: measure(3),
      trades: measure(4),
      fees: measure(5),
    };
    expect(
      grouped(computed).map(({ title, measures }) => [title, measures.map(({ name }) => name)]),
    ).toEqual([
      ["Return", ["total_return", "cagr"]],
      ["Risk", ["sharpe"]],
      ["Trading", ["trades", "fees"]],
    ]);
    expect(headlines(computed).map(({ name }) => name)).toEqual(["total_return", "cagr", "sharpe"]);
  });
});

describe("worstOf", () => {
  it("is the other end from the best, whichever that is", () => {
    expect(worstOf([1, 3, 2], [1])).toEqual([0]);
    expect(worstOf([1, 3, 2], [0])).toEqual([1]);
    expect(worstOf([-0.1, null, -0.3], [0])).toEqual([2]);
  });

  it("is nobody where nobody is best or all are alike", () => {
    expect(worstOf([1, 2], [])).toEqual([]);
    expect(worstOf([2, 2], [0, 1])).toEqual([]);
    expect(worstOf([null, 2], [])).toEqual([]);
  });
});

it("says what luck leaves", () => {
  expect(verdict(40, 0.2)).toContain("40 backtests");
  expect(verdict(40, 0.2)).toContain("Luck alone");
  expect(verdict(1, 0.99)).toContain("only backtest");
  expect(verdict(3, null)).toBe("");
});
