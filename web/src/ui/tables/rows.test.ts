import { expect, it } from "vitest";
import { shifted } from "./rows";

const rows = (...seqs: number[]) => seqs.map((seq) => ({ seq }));

it("follows the row that is looked at", () => {
  expect(shifted(rows(5, 6, 7), rows(3, 4, 5, 6, 7), 1)).toBe(2);
  expect(shifted(rows(3, 4, 5, 6, 7), rows(5, 6, 7), 3)).toBe(-2);
  expect(shifted(rows(5, 6), rows(5, 6, 7, 8), 1)).toBe(0);
});

it("holds on to the next row when that one is gone, and to nothing in another list", () => {
  expect(shifted(rows(1, 2, 3, 4), rows(3, 4, 5), 0)).toBe(-2);
  expect(shifted(rows(1, 2, 3), rows(10, 11), 1)).toBe(0);
  expect(shifted([], rows(1), 0)).toBe(0);
});
