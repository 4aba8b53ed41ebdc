import { describe, expect, it } from "vitest";
import type { Pnl } from "~/api/types";
import { sumsOf } from "./sums";

const USD = {
  realized: 10,
  unrealized: 5,
  fees: 2,
  fills: 3,
  cash: { fee: -1, funding: -0.25 },
  flows: { deposit: 1000 },
  total: 13.75,
};
const JPY = { ...USD, realized: 700, unrealized: 0, fees: 0, cash: {}, flows: {}, total: 700 };

function pnl(more: Partial<Pnl>): Pnl {
  return {
    source: "computed",
    currency: "USD",
    series_currency: "USD",
    by_currency: { USD, JPY },
    series: [{ time: 1, value: 13.75 }],
    ...more,
  } as Pnl;
}

const shown = (one: Pnl) =>
  Object.fromEntries(sumsOf(one).items.map(({ name, value }) => [name, value]));

describe("the figures above the curve", () => {
  it("have the server's total, with the cash that is part of it", () => {
    expect(shown(pnl({}))).toEqual({
      Total: 13.75,
      Realized: 10,
      Unrealized: 5,
      "Other fees": -1,
      Funding: -0.25,
      Fees: 2,
    });
  });
  it("are in the currency of the curve", () => {
    const found = sumsOf(pnl({ series_currency: "JPY" }));
    expect(found.currency).toBe("JPY");
    expect(found.items[0]).toMatchObject({ name: "Total", value: 700 });
  });
  it("say which total is the model's own and which is computed", () => {
    const own = pnl({ source: "model", series_currency: null, series: [{ time: 1, value: 99 }] });
    expect(shown(own)).toMatchObject({ "Reported by the model": 99, "Computed total": 13.75 });
  });
  it("are absent while nothing is known", () => {
    const none = pnl({ currency: null, series_currency: null, by_currency: {}, series: [] });
    expect(sumsOf(none)).toEqual({ currency: null, items: [] });
  });
});
