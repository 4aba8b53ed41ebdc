import { expect, it } from "vitest";
import { changed, readSearch, texts, writeSearch } from "./address";

it("takes from an address the texts that a page knows", () => {
  const of = texts("symbol", "side");
  expect(of({ symbol: "BTC-USD", side: "", other: "x" })).toEqual({ symbol: "BTC-USD" });
  expect(of({ symbol: 7, side: { a: 1 } })).toEqual({ symbol: "7" });
});

it("changes what is named, keeps the rest and leaves out what is empty", () => {
  expect(changed({ q: "a", range: "1w" }, { q: "b" })).toEqual({ q: "b", range: "1w" });
  expect(changed({ q: "a", range: "1w" }, { q: "" })).toEqual({ range: "1w" });
});

it("writes texts as they are, and reads them again", () => {
  const view = {
    line: "2",
    range: "1700_1800@1750",
    ids: "a,b",
    file: "src/main.py",
    q: '"a" & %2C',
  };
  const written = writeSearch(view);
  expect(written).toMatch(/^\?line=2&range=1700_1800@1750&ids=a,b&file=src\/main.py&q=/);
  const names = ["line", "range", "ids", "file", "q"] as const;
  expect(texts(...names)(readSearch(written))).toEqual(view);
});
