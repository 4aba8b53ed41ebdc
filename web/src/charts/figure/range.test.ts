import { expect, test } from "vitest";
import { shownBy, textOf, viewOf } from "./range";

test("what a chart shows survives the way through the address", () => {
  for (const text of ["", "1W", "All", "100_900", "100_900@500", "1W@1767225600", "0.125_0.5@0.25"])
    expect(textOf(shownBy(text))).toBe(text);
});

test("seconds are whole unless the range is short", () => {
  expect(textOf({ range: { from: 0.26, to: 5000.9 }, moment: 12.6 })).toBe("0_5001@13");
  expect(textOf({ range: { from: 0.26, to: 9.5 }, moment: null })).toBe("0.26_9.5");
});

test("other texts show what the chart begins with", () => {
  for (const text of ["9_1", "week", "1_2_3", "1W@", "NaN_5", "1e3_2e3"])
    expect(shownBy(text)).toEqual({ range: null, moment: null });
});

test("a named range ends with the newest point", () => {
  const all = { from: 0, to: 1_000_000 };
  expect(viewOf("1D", all)).toEqual({ from: 913_600, to: 1_000_000 });
  expect(viewOf("All", all)).toBeNull();
  expect(viewOf({ from: 1, to: 2 }, all)).toEqual({ from: 1, to: 2 });
  expect(viewOf({ from: -9, to: -1 }, all)).toBeNull();
});
