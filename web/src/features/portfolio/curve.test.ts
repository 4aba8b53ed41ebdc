import { describe, expect, it } from "vitest";
import type { Portfolio } from "~/api/types";
import { inWords, panesOf, spanOf } from "./curve";

const DAY = 86_400;
const at = (...values: number[]) => values.map((value, day) => ({ time: day * DAY, value }));
const found = {
  currency: "USD",
  account: at(1_000, 1_100, 2_090),
  returns: at(0, 0.1, 0.045),
  drawdown: at(0, 0, -0.05),
} as Portfolio;
const all = { from: 0, to: 2 * DAY };

describe("the curve of a portfolio", () => {
  it("says value, return without flows, and drawdown of the days in view", () => {
    expect(inWords(found, all)).toBe(
      "From 1970-01-01 to 1970-01-03, the account went from 1,000.00\u00a0USD to 2,090.00\u00a0USD. It returned +4.50 %, without deposits and withdrawals. The deepest drawdown was \u22125.00 % on 1970-01-03.",
    );
    expect(inWords(found, { from: DAY, to: 2 * DAY })).toContain("returned \u22125.00 %");
    const led = { ...found, returns: at(-0.01, 0.1, 0.045) };
    expect(inWords(led, all), "the first day is a part of it").toContain("returned +4.50 %");
    expect(inWords(found, { from: 9 * DAY, to: 10 * DAY })).toContain("no day in this range");
  });
  it("is drawn from the second day on", () => {
    expect(spanOf(found)).toEqual(all);
    expect(spanOf({ ...found, account: at(1_000) })).toBeNull();
  });
  it("shows the value where there is no return", () => {
    const ruined = { ...found, returns: [], drawdown: [] };
    expect(panesOf(ruined, "return").map(({ id }) => id)).toEqual(["value"]);
    expect(panesOf(found, "return").map(({ id }) => id)).toEqual(["return", "drawdown"]);
  });
  it("has the digits of its currency on its tag", () => {
    const tag = (currency: string) =>
      panesOf({ ...found, currency }, "value")[0]?.format(0.0599123);
    expect([tag("BTC"), tag("USD")]).toEqual(["0.0599123", "0.06"]);
  });
});
