import { expect, it } from "vitest";
import examples from "./ticks.examples.json";
import { type Scale, spread, tickTexts, valueTicks } from "./values";

const axis = (low: number, high: number, most = 5) =>
  tickTexts(valueTicks(spread({ low, high }), most), "number");

it.each(examples)("writes %s ticks in one unit: %j", (scale, ticks, texts) => {
  expect(tickTexts(ticks as number[], scale as Scale)).toEqual(texts);
});

it("gives a flat curve ticks that differ", () => {
  for (const value of [0, 5, 100_000, -3e-8, 1e12]) {
    const texts = axis(value, value);
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts.length).toBeGreaterThan(1);
  }
});

it("fits its values", () => {
  const ticks = valueTicks({ low: 95_000, high: 108_000 }, 6);
  expect([ticks[0], ticks.at(-1)]).toEqual([95_000, 107_500]);
});

it("writes prices without a unit", () => {
  expect(tickTexts([2_000_000, 3_000_000], "price")).toEqual(["2,000,000", "3,000,000"]);
});

it("answers nothing to what no axis can hold", () => {
  expect(valueTicks({ low: Number.NaN, high: 1 }, 4)).toEqual([]);
  expect(valueTicks({ low: -1e308, high: 1e308 * 1.7 }, 1)).toEqual([]);
});
