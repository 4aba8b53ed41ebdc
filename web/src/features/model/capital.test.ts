import { expect, it } from "vitest";
import { capitalOf } from "./capital";

it("reads an amount as people write it", () => {
  for (const typed of ["10000", "10,000", "10 000", "10'000.00", " 1e4 "])
    expect(capitalOf(typed, "USD")).toEqual({ amount: 10_000, currency: "USD" });
  expect(capitalOf("2500.50", " EUR ")).toEqual({ amount: 2_500.5, currency: "EUR" });
  expect(capitalOf(" ", "USD")).toBeNull();
});

it("refuses what could be read in two ways, or is no amount", () => {
  for (const typed of ["10,5", "-5", "0", "ten", "1.2.3"])
    expect(() => capitalOf(typed, "USD")).toThrow("above zero");
  expect(() => capitalOf("5", " ")).toThrow("currency");
});
