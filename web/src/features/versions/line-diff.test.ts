import { describe, expect, it } from "vitest";
import { folded, type Line, lineDiff, paired } from "./line-diff";

const SIGNS = { same: " ", added: "+", removed: "-" };
const told = (before: string, now: string) =>
  lineDiff(before, now).lines.map(({ change, text }) => SIGNS[change] + text);
const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`);

describe("a difference line by line", () => {
  it("tells what was added, removed and kept", () => {
    expect(told("a\nb\nc\n", "a\nc\n")).toEqual([" a", "-b", " c"]);
    expect(told("a\nc\n", "a\nb\nc\n")).toEqual([" a", "+b", " c"]);
    expect(told("a\nb\nc\n", "a\nB\nc\n")).toEqual([" a", "-b", "+B", " c"]);
    expect(told("", "a\n")).toEqual(["+a"]);
    expect(told("", "")).toEqual([]);
  });
  it("is the shortest there is", () => {
    const { added, removed } = lineDiff("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n");
    expect(added + removed).toBe(5);
  });
  it("loses nothing of either text, and numbers both", () => {
    let seed = 7;
    const random = (most: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % most;
    };
    for (let round = 0; round < 200; round += 1) {
      const make = () => Array.from({ length: random(30) }, () => `line ${random(6)}`);
      const [before, now] = [make(), make()];
      const { lines, added, removed } = lineDiff(text(before), text(now));
      const side = (change: Line["change"]) => lines.filter((line) => line.change !== change);
      expect(side("added").map((line) => line.text)).toEqual(before);
      expect(side("removed").map((line) => line.text)).toEqual(now);
      expect(side("added").map((line) => line.before)).toEqual(before.map((_, at) => at + 1));
      expect(side("removed").map((line) => line.now)).toEqual(now.map((_, at) => at + 1));
      expect(added - removed).toBe(now.length - before.length);
    }
  });
  it("gives up on texts that have nothing in common, and says so", () => {
    const [before, now] = [numbered(5_000), numbered(5_000).map((line) => `other ${line}`)];
    const { isRough, added, removed } = lineDiff(text(before), text(now));
    expect([isRough, added, removed]).toEqual([true, 5_000, 5_000]);
    expect(lineDiff("a\n", "b\n").isRough).toBe(false);
  });
  it("does not hang on a hostile pair", () => {
    const before = text(Array.from({ length: 40_000 }, (_, at) => (at % 3 ? "x" : "y")));
    const now = text(Array.from({ length: 40_000 }, (_, at) => (at % 5 ? "x" : "y")));
    expect(lineDiff(before, now).lines.length).toBeGreaterThan(40_000);
  });
  it("folds and pairs as many lines as a file can have", () => {
    const many = (change: Line["change"]): Line[] =>
      Array.from({ length: 150_000 }, () => ({ change, before: 1, now: 1, text: "" }));
    expect(folded(many("same"), new Set([0]))).toHaveLength(150_000);
    expect(paired([...many("removed"), ...many("added")])).toHaveLength(150_000);
  });
  it("sees a line ending that changed", () => {
    expect(told("a\r\n", "a\n")).toEqual(["-a\r", "+a"]);
  });
});

describe("folding", () => {
  const lines = numbered(40);
  const { lines: diff } = lineDiff(text(lines), text(lines.with(20, "changed")));
  it("hides what is far from any change, and counts it", () => {
    const shown = folded(diff, new Set());
    expect(shown.map((one) => ("count" in one ? `… ${one.count}` : one.text))).toEqual([
      "… 17", "line 17", "line 18", "line 19", "line 20", "changed", "line 21", "line 22",
      "line 23", "… 16",
    ]); // biome-ignore format: a picture
  });
  it("opens one place at a time", () => {
    const shown = folded(diff, new Set([0]));
    expect(shown.filter((one) => "count" in one)).toEqual([{ from: 25, count: 16 }]);
  });
  it("hides no single line", () => {
    const two = lineDiff(
      text(lines.slice(0, 9)),
      text(lines.slice(0, 9).with(0, "a").with(8, "b")),
    );
    expect(folded(two.lines, new Set()).some((one) => "count" in one)).toBe(false);
  });
});

it("puts a changed line beside what it was", () => {
  const { lines } = lineDiff("a\nb\nc\nd\n", "a\nB\nd\n");
  const rows = paired(lines).map((row) =>
    "count" in row ? "…" : [row.left?.text ?? "", row.right?.text ?? ""],
  );
  expect(rows).toEqual([
    ["a", "a"],
    ["b", "B"],
    ["c", ""],
    ["d", "d"],
  ]);
});
