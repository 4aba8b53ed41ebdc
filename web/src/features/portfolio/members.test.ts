import { describe, expect, it } from "vitest";
import type { Portfolio } from "~/api/types";
import { currenciesOf } from "./members";

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
