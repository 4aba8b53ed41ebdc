import { describe, expect, it } from "vitest";
import { plainText, terminalLines } from "./terminal";
import examples from "./terminal.examples.json";

describe("the output of a program", () => {
  it.each(examples as [string, [string, string][][]][])(
    "is shown as a terminal would: %j",
    (text, lines) => {
      expect(terminalLines(text).map((line) => line.map(({ text, look }) => [text, look]))).toEqual(
        lines,
      );
    },
  );
  it("has its text without colours", () => {
    expect(terminalLines("\u001b[31mred\u001b[0m plain").map(plainText)).toEqual(["red plain"]);
  });
});
