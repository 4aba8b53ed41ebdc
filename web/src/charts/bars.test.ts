import { expect, it } from "vitest";
import { type Bars, candleAt, closesOf, extentOfBars, shownBars } from "./bars";

const bars: Bars = {
  interval: 10,
  time: [0, 10, 50],
  open: [1, 2, 3],
  high: [4, 5, 9],
  low: [1, 0, 3],
  close: [2, 3, 8],
};

it("knows the bars of a view, also those that reach into it", () => {
  expect(shownBars(bars, { from: 5, to: 20 })).toEqual([0, 2]);
  expect(shownBars(bars, { from: 20, to: 60 })).toEqual([2, 3]);
  expect(extentOfBars(bars, { from: 12, to: 40 })).toEqual({ low: 0, high: 5 });
  expect(extentOfBars(bars, { from: 30, to: 40 })).toBeNull();
});

it("breaks the line of closes where bars are missing", () => {
  expect(closesOf(bars).map(({ value }) => value)).toEqual([2, 3, null, 8]);
  expect(closesOf(bars).map(({ time }) => time)).toEqual([10, 20, 20.1, 60]);
});

it("ends the line of closes with the bar that is still growing", () => {
  expect(closesOf(bars, 53).at(-1)).toEqual({ time: 53, value: 8 });
  expect(closesOf(bars, 45).at(-1)).toEqual({ time: 50, value: 8 });
});

it("names the candle at a moment, and none in a gap", () => {
  expect(candleAt(bars, 15)).toEqual([["O", 2], ["H", 5], ["L", 0], ["C", 3]]); // biome-ignore format: one line
  expect(candleAt(bars, null)?.at(-1)).toEqual(["C", 8]);
  expect(candleAt(bars, 30)).toBeNull();
  expect(candleAt(bars, -1)).toBeNull();
});

it("takes each bar for as long as it is, where coarser ones stand between finer ones", () => {
  const mixed: Bars = { ...bars, time: [0, 40, 50], intervals: [40, 10, 10] };
  expect(shownBars(mixed, { from: 30, to: 45 })).toEqual([0, 2]);
  expect(candleAt(mixed, 39)?.at(-1)).toEqual(["C", 2]);
  expect(closesOf(mixed).map(({ time }) => time)).toEqual([40, 50, 60]);
});
