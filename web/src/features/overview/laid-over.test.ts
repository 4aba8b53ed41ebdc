import { expect, test } from "vitest";
import { laidOver, resultsAt } from "./laid-over";

const points = (start: number, ...values: number[]) =>
  values.map((value, place) => ({ time: start + place * 10, value }));

test("by the calendar, both begin at nothing with the first moment in common", () => {
  const laid = laidOver(points(20, 0, 0.1, 0.21), points(0, 50, 80, 100, 110, 99), true, "time");
  expect(laid?.all).toEqual({ from: 20, to: 40 });
  expect(laid?.live.map(({ value }) => Number(value?.toFixed(6)))).toEqual([0, 0.1, 0.21]);
  expect(laid?.tested.map(({ value }) => Number(value?.toFixed(6)))).toEqual([0, 0.1, -0.01]);
});

test("from the start, each begins with its own first value", () => {
  const laid = laidOver(points(1000, 0.1, 0.2), points(0, 100, 150, 120), true, "start");
  expect(laid?.common).toEqual({ from: 0, to: 10 });
  expect(laid?.all).toEqual({ from: 0, to: 20 });
  const results = laid && resultsAt(laid, laid.common.to);
  expect(results?.map((one) => Number(one?.toFixed(6)))).toEqual([0.2, 0.5]);
});

test("without capital, both are in money", () => {
  const laid = laidOver(points(0, 5, 15), points(0, 1000, 1040), false, "time");
  expect(laid && resultsAt(laid, 10)).toEqual([10, 40]);
});

test("records without a moment in common are not laid over each other by the calendar", () => {
  const [live, tested] = [points(100, 0, 1), points(0, 100, 101)];
  expect(laidOver(live, tested, true, "time")).toBeNull();
  expect(laidOver(live, tested, true, "start")).not.toBeNull();
  expect(laidOver([], tested, true, "start")).toBeNull();
});
