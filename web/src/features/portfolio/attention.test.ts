import { describe, expect, it } from "vitest";
import { troubles } from "./attention";

describe("what needs attention", () => {
  it("lists a crash before a missing capital, whatever the order it came in", () => {
    const told = [
      { model_id: "a", code: "no_capital" as const, message: "No capital." },
      { model_id: "b", code: "crashed" as const, message: "It crashed." },
    ];
    expect(troubles(told).map(({ code, page }) => [code, page])).toEqual([
      ["crashed", "logs"],
      ["no_capital", "settings"],
    ]);
  });
  it("says once what is true of many models", () => {
    const told = ["a", "b", "c"].map((model_id) => ({
      model_id,
      code: "no_rate" as const,
      message: model_id === "c" ? "No rate of EUR." : "No rate of JPY.",
    }));
    const [trouble, ...others] = troubles(told);
    expect(others).toEqual([]);
    expect(trouble?.reports).toEqual([
      { message: "No rate of JPY.", models: ["a", "b"] },
      { message: "No rate of EUR.", models: ["c"] },
    ]);
  });
});
