import { expect, it } from "vitest";
import { inDetail, linesInWords, linesOf } from "./aligned";

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
  expect(linesInWords(lines, (id) => id.toUpperCase())).toBe(
    "Each starting at 100, best first: B +20.00 %, A −10.00 %.",
  );
  expect(linesInWords([], String)).toContain("None");
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
