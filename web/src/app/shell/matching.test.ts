import { describe, expect, it } from "vitest";
import { matching, score } from "./matching";

describe("the palette's search", () => {
  it("puts beginnings before words before letters", () => {
    const all = [
      { label: "Audit" },
      { label: "BTC audit trail" },
      { label: "Aurora under it" },
      { label: "Keys" },
    ];
    expect(matching("audit", all).map(({ label }) => label)).toEqual([
      "Audit",
      "BTC audit trail",
      "Aurora under it",
    ]);
    expect(matching("bat", all).map(({ label }) => label)).toEqual(["BTC audit trail"]);
  });
  it("finds by other words for it, and everything by nothing", () => {
    const all = [{ label: "Account", words: "password theme" }, { label: "Keys" }];
    expect(matching("pass", all).map(({ label }) => label)).toEqual(["Account"]);
    expect(matching("  ", all).length).toBe(2);
  });
  it("takes letters as letters", () => {
    expect(score("a.*", "abc")).toBeNull();
    expect(score("(", "a (b)")).not.toBeNull();
  });
});
