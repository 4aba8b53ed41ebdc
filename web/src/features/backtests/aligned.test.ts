import { expect, it } from "vitest";
import {
  axisText,
  inDetail,
  linesOf,
  outline,
  sampled,
  told,
  toldDrawdown,
  toldEquity,
} from "./aligned";

const item = (id: string, values: (number | null)[]) => ({
  backtest_id: id,
  label: null,
  first: 0,
  last: 1,
  values,
  reason: null,
  arguments: null,
});

it("a line begins and ends where its backtest does", () => {
  const [line] = linesOf({ times: [1, 2, 3, 4], items: [item("a", [null, 100, 0, null])] });
  expect(line?.points).toEqual([
    { time: 2, value: 100 },
    { time: 3, value: 0 },
  ]);
  expect(line?.last).toBe(0);
});

it("tells the lines in words, best first", () => {
  const lines = linesOf({
    times: [1],
    items: [item("a", [90]), item("b", [120]), item("c", [null])],
  });
  expect(told(lines, (id) => id.toUpperCase())).toBe(
    "From 100 each, best first: B +20.00 %, A −10.00 %.",
  );
  expect(told([], String)).toContain("None");
});

it("names moments of both axes", () => {
  expect(axisText(3 * 86_400, "start")).toBe("day 3");
  expect(axisText(600, "start")).toBe("10 min");
});

it("samples with both ends", () => {
  expect(sampled([0, 1, 2, 3, 4, 5, 6, 7, 8], 3)).toEqual([0, 4, 8]);
  expect(sampled([1, 2], 3)).toEqual([1, 2]);
});

it("outlines a curve, gaps left out", () => {
  const points = [
    { time: 1, value: 10 },
    { time: 2, value: null },
    { time: 3, value: 5 },
    { time: 4, value: 12 },
  ];
  expect(outline(points)).toMatchObject({
    first: 10,
    last: 12,
    low: { time: 3 },
    high: { time: 4 },
  });
  expect(toldEquity(points, String)).toContain("from 10 to 12 (+20.00 %)");
  expect(toldEquity([], String)).toBe("There is no account value.");
  expect(toldDrawdown([{ time: 0, value: 0 }])).toContain("never fell");
  expect(
    toldDrawdown([
      { time: 0, value: -0.5 },
      { time: 1, value: 0 },
    ]),
  ).toContain("at its high");
});

it("puts the detail of each line into its own", () => {
  const line = (id: string, ...times: number[]) => ({
    id,
    points: times.map((time) => ({ time, value: 100 })),
    last: 100,
    reason: null,
    arguments: null,
  });
  const found = inDetail([line("a", 0, 10, 20), line("b", 0, 10)], [line("a", 8, 9, 10, 11)]);
  expect(found.map(({ points }) => points.map(({ time }) => time))).toEqual([
    [0, 8, 9, 10, 11, 20],
    [0, 10],
  ]);
});
