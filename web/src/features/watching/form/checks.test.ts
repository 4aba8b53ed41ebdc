import { describe, expect, it } from "vitest";
import { Problem } from "~/api/problem";
import type { Condition } from "../queries";
import { inForm, isAtField, mistakesOf, numberOf } from "./checks";
import { EMPTY } from "./draft";

const lines: Condition = {
  name: "errors",
  about: "behaviour",
  title: "Errors",
  help: "",
  scopes: ["model"],
  each_model: true,
  units: ["count"],
  default_limit: null,
  options: [
    { name: "matches", kind: "pattern", help: "", default: null, required: true },
    { name: "within", kind: "duration", help: "", default: "5m", required: false },
  ],
  tighter: "lower",
  is_silence: false,
  has_preview: true,
};

describe("a limit as somebody writes it", () => {
  const said = (limit: string) => mistakesOf({ ...EMPTY, limit }, lines).limit;

  it("may part thousands with commas, and nothing else", () => {
    expect(["1,000", "12,345.6", "1,234,567", "5.5", " 7 ", ".5", "1e-7"].map(numberOf)).toEqual([
      1000, 12_345.6, 1_234_567, 5.5, 7, 0.5, 1e-7,
    ]);
    const wrong = ["5,5", "1,00", "0,500", "1,2345", "1234,567", "1.234,5", ",5", "0x10", "ten"];
    expect(wrong.map(numberOf)).toEqual(wrong.map(() => Number.NaN));
    expect(["1,000", "12,345.6", "", "0"].map(said)).toEqual(Array(4).fill(undefined));
    expect(said("5,5")).toBe("Write 5.5 with a point.");
    expect(said("0,500")).toBe("Write 0.500 with a point.");
    expect(said("1.234,5")).toBe("Write commas only between thousands, as in 12,345.6.");
    expect(said("ten")).toBe("The limit must be a number.");
    expect(said("1e999")).toBe("The limit must be a number.");
  });

  it("has no minus", () => {
    expect(["-5", "−5", "-5,5"].map(said)).toEqual(
      Array(3).fill("Write the limit without a minus."),
    );
    expect(mistakesOf({ ...EMPTY, limit: "-5" }, { ...lines, units: [] })).toEqual({});
  });
});

describe("what is wrong in a rule", () => {
  it("is said with the label of its field", () => {
    const draft = {
      ...EMPTY,
      limit: "3",
      lasting: "soon",
      after: "x",
      options: { within: "900d" },
    };
    expect(mistakesOf(draft, lines)).toEqual({
      "when.within": "Within must be a length of time, such as 10m.",
      for: "True for must be a length of time, such as 10m.",
      after: "Write a length of time, such as 15m.",
    });
    expect(mistakesOf(draft, { ...lines, is_silence: true }).for).toContain("Silent for");
  });

  it("is told by the server in the same words, at the field if there is one", () => {
    const said = new Problem(400, "bad", "when.matches is not a pattern.", "when.matches");
    expect(inForm(said, lines)).toMatchObject({
      message: "Matches is not a pattern.",
      field: "when.matches",
    });
    const other = new Problem(400, "bad", "A rule of that name is there.", "name");
    expect([inForm(other, lines), inForm(null, lines)]).toEqual([other, null]);
    expect([said, other].map((one) => isAtField(one, lines))).toEqual([true, true]);
    const nowhere = new Problem(400, "bad", "No.", "when.other");
    expect(
      [nowhere, new Problem(500, "bad", "No."), null].map((one) => isAtField(one, lines)),
    ).toEqual([false, false, false]);
  });
});
