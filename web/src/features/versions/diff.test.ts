import { expect, it } from "vitest";
import { CODE, changes } from "./diff";

const told = (before: string, after: string) =>
  changes(before, after).map(
    ({ text, change }) => `${{ same: " ", added: "+", removed: "-" }[change]}${text}`,
  );

it("tells what was added, removed and kept", () => {
  expect(told("buys the dip", "buys the deep dip")).toEqual([" buys the ", "+deep ", " dip"]);
  expect(told("a b c", "a c")).toEqual([" a ", "-b ", " c"]);
  expect(told("fast mean", "slow mean")).toEqual(["-fast ", "+slow ", " mean"]);
});

it("takes code apart at its signs", () => {
  const told = changes("numpy==2.1.0", "numpy==2.2.0", CODE).map(({ text }) => text);
  expect(told).toEqual(["numpy==2.", "1", "2", ".0"]);
});

it("loses nothing of either text", () => {
  const [before, after] = ["  one two three two", "two one\nthree  four two"];
  const pieces = changes(before, after);
  const without = (change: string) =>
    pieces.flatMap((piece) => (piece.change === change ? [] : piece.text)).join("");
  expect(without("added")).toBe(before);
  expect(without("removed")).toBe(after);
});

it("has nothing to tell of nothing", () => {
  expect(told("", "")).toEqual([]);
  expect(told("same", "same")).toEqual([" same"]);
  expect(told("", "new")).toEqual(["+new"]);
});
