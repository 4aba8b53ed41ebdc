import { expect, it } from "vitest";
import { countedWords } from "./counted-words";

it("says nothing where the figures count every round trip", () => {
  expect(countedWords({}, null)).toBe("");
  expect(countedWords({}, "USD")).toBe("");
  expect(countedWords({ USD: 3 }, "USD")).toBe("");
});

it("says how many of all the figures count, and where the others are", () => {
  expect(countedWords({ EUR: 42, JPY: 55, USD: 1_164 }, "USD")).toBe(
    "The figures count 1,164 of 1,261 round trips, those in USD: the list has 55 in JPY, 42 in EUR too; choose a symbol there for its own figures.",
  );
});

it("says why there are no figures where no round trip is in the account's currency", () => {
  expect(countedWords({ USDT: 1 }, "USD")).toBe(
    "There are no figures, for no round trip is in USD: the list has 1 in USDT; choose a symbol there for its own figures.",
  );
});
