import { describe, expect, it } from "vitest";
import { argumentsOf, fieldsOf, formatJson, readJson, refilled, valueIn } from "./arguments";

const GIVEN = {
  days: 365,
  share: 0.5,
  from: "2024-01-31",
  to: "1y",
  deep: true,
  pairs: ["A", "B"],
  seed: null,
};

describe("fieldsOf", () => {
  it("infers what may be put into each", () => {
    expect(Object.fromEntries(fieldsOf(GIVEN).map(({ name, kind }) => [name, kind]))).toEqual({
      days: "integer",
      share: "number",
      from: "date",
      to: "text",
      deep: "boolean",
      pairs: "json",
      seed: "json",
    });
  });

  it("gives back what it was given", () => {
    expect(argumentsOf(fieldsOf(GIVEN))).toEqual(GIVEN);
    expect(readJson(formatJson(GIVEN))).toEqual(GIVEN);
    expect(fieldsOf(null)).toEqual([]);
  });
});

describe("valueIn", () => {
  it("reads numbers leniently and refuses what is none, by name", () => {
    expect(valueIn({ name: "days", kind: "integer", text: " 1e2 " })).toBe(100);
    expect(valueIn({ name: "days", kind: "integer", text: "0.5" })).toBe(0.5);
    expect(() => valueIn({ name: "days", kind: "integer", text: "many" })).toThrow(
      "days must be a number.",
    );
    expect(() => valueIn({ name: "share", kind: "number", text: "" })).toThrow("share");
    expect(() => valueIn({ name: "pairs", kind: "json", text: "[1," })).toThrow(
      "pairs must be JSON",
    );
  });

  it("keeps a text as it was typed", () => {
    expect(valueIn({ name: "to", kind: "text", text: " 1y " })).toBe(" 1y ");
  });
});

describe("readJson", () => {
  it("wants names", () => {
    expect(() => readJson("[1]")).toThrow("Arguments need names");
    expect(() => readJson("{")).toThrow("not valid JSON");
    expect(readJson("  ")).toEqual({});
  });

  it("keeps a number field a number when raw JSON made it whole", () => {
    const [field] = refilled(fieldsOf({ share: 0.5 }), { share: 1 });
    expect(field?.kind).toBe("number");
  });
});
