import { expect, it } from "vitest";
import { changed, texts } from "./address";

it("takes from an address the texts that a page knows", () => {
  const of = texts("symbol", "side");
  expect(of({ symbol: "BTC-USD", side: "", other: "x" })).toEqual({ symbol: "BTC-USD" });
  expect(of({ symbol: 7, side: { a: 1 } })).toEqual({ symbol: "7" });
});

it("changes what is named, keeps the rest and leaves out what is empty", () => {
  expect(changed({ q: "a", range: "1w" }, { q: "b" })).toEqual({ q: "b", range: "1w" });
  expect(changed({ q: "a", range: "1w" }, { q: "" })).toEqual({ range: "1w" });
});
