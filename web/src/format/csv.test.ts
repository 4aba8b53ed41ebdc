import { afterEach, expect, test } from "vitest";
import { csvOf, dated } from "./csv";
import { setZone } from "./zone";

afterEach(() => setZone("local"));

test("quotes what needs it and leaves out what is not known", () => {
  const rows = [
    ['a "b", c', 1.5, null],
    ["two\nlines", false, undefined],
  ];
  expect(csvOf(["name", "one", "two"], rows)).toBe(
    'name,one,two\n"a ""b"", c",1.5,\n"two\nlines",false,\n',
  );
});

test("no text is a formula, and numbers stay numbers", () => {
  expect(csvOf(["=a"], [["=1+1"], ["+1"], ["-x"], ["@y"], [-1.5]])).toBe(
    "'=a\n'=1+1\n'+1\n'-x\n'@y\n-1.5\n",
  );
});

test("times are in the chosen zone", () => {
  setZone("America/New_York");
  expect(dated(1_767_225_600)).toBe("2025-12-31T19:00:00-05:00");
  setZone("Asia/Kolkata");
  expect(dated(0)).toBe("1970-01-01T05:30:00+05:30");
  expect(dated(null)).toBe("");
  expect(dated(1e15)).toBe("");
});
