import { describe, expect, it } from "vitest";
import type { Portfolio } from "~/api/types";
import { currenciesOf, isUnconverted } from "./members";

describe("the currencies of a portfolio", () => {
  it("are those of capitals, profits and rates, each once", () => {
    const found = {
      currency: "USD",
      models: [
        { capital: { amount: 1, currency: "EUR" }, profits: { EUR: 1, JPY: 2 } },
        { capital: null, profits: {} },
      ],
      rates: [{ currency: "EUR" }, { currency: "CHF" }],
    };
    expect(currenciesOf(found as unknown as Portfolio)).toEqual(["CHF", "EUR", "JPY", "USD"]);
  });
});

describe("an account that is missing", () => {
  it("lacks a rate where its capital is known", () => {
    const capital = { amount: 1, currency: "EUR" };
    const attention = [{ model_id: "a", code: "no_rate", message: "" }];
    const of = (known: typeof capital | null) =>
      ({ attention, models: [{ model_id: "a", capital: known }] }) as unknown as Portfolio;
    expect([isUnconverted(of(capital)), isUnconverted(of(null))]).toEqual([true, false]);
  });
});
