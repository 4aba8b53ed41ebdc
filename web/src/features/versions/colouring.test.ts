import { expect, it } from "vitest";
import { coloured, continued, languageOf } from "./colouring";

const told = (line: string, path = "a.py") =>
  coloured(line, languageOf(path), "")
    .filter(({ tone }) => tone !== "plain")
    .map(({ text, tone }) => `${tone} ${text}`);

it("tells words, texts, numbers and comments apart", () => {
  expect(told("def fast(n=10): # the mean")).toEqual([
    "word def",
    "number 10",
    "comment # the mean",
  ]);
  expect(told("x2 = 'it\\'s # no' + \"\"")).toEqual(["text 'it\\'s # no'", 'text ""']);
  expect(told('{"a": true, "b": 1.5}', "platform.json")).toEqual([
    'text "a"',
    "word true",
    'text "b"',
    "number 1.5",
  ]);
  expect(told("numpy # pinned", "requirements.txt")).toEqual(["comment # pinned"]);
  expect(told("def not code", "notes.md")).toEqual([]);
});

it("knows a text that goes on over lines", () => {
  const lines = ['"""Trades', "the dip # here", 'and more""" + 1', "x = 1"];
  expect(continued(lines, "python")).toEqual(["", '"""', '"""', ""]);
  expect(coloured("the dip # here", "python", '"""')).toEqual([
    { text: "the dip # here", tone: "text" },
  ]);
});

it("loses nothing of a line", () => {
  for (const line of ["", "  return [x for x in y]", "'open", '"""', "# '''", "é = 'ü' ; λ=1", "#"])
    expect(
      coloured(line, "python", "")
        .map(({ text }) => text)
        .join(""),
    ).toBe(line);
});

it("shows what would reverse or hide a part of the line", () => {
  expect(coloured("a\u202eb\u200b", "plain", "")).toEqual([
    { text: "a", tone: "plain" },
    { text: "U+202E", tone: "hidden" },
    { text: "b", tone: "plain" },
    { text: "U+200B", tone: "hidden" },
  ]);
  expect(told("if x: # \u2066 return")).toContain("hidden U+2066");
  expect(coloured("\ttab", "plain", "")).toEqual([{ text: "\ttab", tone: "plain" }]);
});

it("takes long lines as they come", () => {
  const line = `${"'".repeat(50_000)}${"a".repeat(50_000)}`;
  expect(coloured(line, "python", "").length).toBeGreaterThan(1);
});
