import { expect, it } from "vitest";
import { periodsOf } from "./period";

it("tells whether backtests cover the same period", () => {
  const [june, july] = ["2026-06-01", "2026-07-01"];
  const first = { start_time: june, stop_time: july };
  expect(periodsOf([first, first])).toEqual(["2026-06-01 to 2026-07-01"]);
  expect(periodsOf([first, { start_time: july, stop_time: "2026-08-01" }])).toHaveLength(2);
  expect(periodsOf([{ start_time: null }])).toEqual([]);
});
