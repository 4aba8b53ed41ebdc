import { describe, expect, it } from "vitest";
import { meaning, PATIENCE, rows, tabsOf } from "./keys";

const PAGES = [
  { id: "page-overview", label: "This model: Overview" },
  { id: "page-prices", label: "This model: Prices" },
];
const press = (key: string, more = {}) => ({ key, held: false, writing: false, at: 100, ...more });

describe("keys", () => {
  it("goes to a page by G and a letter, within a moment", () => {
    expect(meaning(press("g"), null, PAGES)).toEqual({ is: "begin" });
    expect(meaning(press("p"), 90, PAGES)).toEqual({ is: "run", id: "portfolio" });
    expect(meaning(press("P"), 90, PAGES)).toEqual({ is: "run", id: "portfolio" });
    expect(meaning(press("p", { at: 90 + PATIENCE }), 90, PAGES)).toEqual({ is: "nothing" });
    expect(meaning(press("x"), 90, PAGES)).toEqual({ is: "nothing" });
  });
  it("opens a tab of a model by its number", () => {
    expect(meaning(press("2"), null, PAGES)).toEqual({ is: "run", id: "page-prices" });
    for (const key of ["0", "3", "a", " ", "1.5"]) {
      expect(meaning(press(key), null, PAGES)).toEqual({ is: "nothing" });
    }
  });
  it("counts the tabs that are there", () => {
    const choices = [{ id: "home", label: "Models" }, ...PAGES, { id: "keys", label: "Keys" }];
    expect(tabsOf(choices)).toEqual(PAGES);
  });
  it("searches and explains itself", () => {
    expect(meaning(press("/"), null, [])).toEqual({ is: "search" });
    expect(meaning(press("?"), null, [])).toEqual({ is: "help" });
  });
  it("leaves combinations to the browser, and letters to fields", () => {
    expect(meaning(press("/", { held: true }), null, PAGES)).toEqual({ is: "nothing" });
    expect(meaning(press("?", { writing: true }), null, PAGES)).toEqual({ is: "nothing" });
    expect(meaning(press("p", { writing: true }), 90, PAGES)).toEqual({ is: "nothing" });
  });
  it("lists only what is there", () => {
    const keys = rows((id) => id === "home", PAGES.slice(0, 1)).map((row) => row.keys.join(" "));
    expect(keys).toContain("G m");
    expect(keys).not.toContain("G h");
    expect(keys).toContain("1");
  });
});
