import { describe, expect, it } from "vitest";
import type { Line } from "~/api/types";
import { plainText } from "~/format/terminal";
import { briefly, entriesOf, hides } from "./entries";

function log(...texts: string[]): Line[] {
  return texts.map((line, at) => ({
    seq: at + 1,
    line,
    type: "stderr",
    time: at,
    received_at: at,
  })) as Line[];
}

const FRAMES = ["Traceback (most recent call last):", '  File "a.py", line 1', "    f()"];
const shown = (text: string) => briefly(text).lines.map(plainText);

describe("the entries of a log", () => {
  it("are its lines", () => {
    const [one, two] = entriesOf(log("a", "b"));
    expect(one).toEqual({ seq: 1, until: 1, time: 0, type: "stderr", text: "a" });
    expect(two?.seq).toBe(2);
  });
  it("are two tracebacks where a search left their exceptions out", () => {
    const first = "Traceback (most recent call last):";
    expect(entriesOf(log(first, first))).toHaveLength(2);
  });
  it("join the lines of a traceback", () => {
    const entries = entriesOf(log("before", ...FRAMES, "ValueError: bad", "after"));
    expect(entries.map(({ seq, until }) => [seq, until])).toEqual([
      [1, 1],
      [2, 5],
      [6, 6],
    ]);
  });
  it("join an exception with the one that it came from", () => {
    const cause = "During handling of the above exception, another exception occurred:";
    const lines = log(
      ...FRAMES,
      "KeyError: 1",
      "",
      cause,
      "",
      ...FRAMES,
      "ValueError: bad",
      "next",
    );
    const [whole, next] = entriesOf(lines);
    expect(whole?.until).toBe(11);
    expect(shown(whole?.text ?? "")).toEqual(["ValueError: bad"]);
    expect(next?.text).toBe("next");
  });
  it("leave lines of another type alone", () => {
    const lines = log(...FRAMES, "ValueError: bad");
    const [first, second, ...rest] = lines as [Line, Line, ...Line[]];
    expect(entriesOf([first, { ...second, type: "stdout" }, ...rest])).toHaveLength(4);
  });
});

describe("an entry that is closed", () => {
  it("shows the last line of a traceback", () => {
    const text = [...FRAMES, "ValueError: bad", ""].join("\n");
    expect(shown(text)).toEqual(["ValueError: bad"]);
    expect(briefly(text).rest).toBe("4 lines");
  });
  it("shows all of a few lines", () => {
    expect(shown("columns\n1 2 3")).toEqual(["columns", "1 2 3"]);
    expect(briefly("columns\n1 2 3").rest).toBe("");
  });
  it("shows the beginning of many lines and of a long one", () => {
    expect(shown("1\n2\n3\n4\n5\n6\n7")).toEqual(["1", "2", "3", "4"]);
    expect(briefly("1\n2\n3\n4\n5\n6\n7").rest).toBe("7 lines");
    expect(shown("x".repeat(20_000))[0]).toHaveLength(1_000);
    expect(briefly("x".repeat(20_000)).rest).toBe("20,000 characters");
  });
});

it("is opened by a search for what it hides", () => {
  const text = "Traceback (most recent call last):\n  File main.py\nKeyError: 'BTC'";
  const closed = briefly(text);
  expect(hides(text, closed, "Traceback")).toBe(true);
  expect(hides(text, closed, "KeyError")).toBe(false);
  expect(hides(text, closed, "")).toBe(false);
});
