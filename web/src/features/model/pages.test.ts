import { expect, it } from "vitest";
import { PAGES, pageOf, pagesOf, titleOf } from "./pages";

it("knows where every address of a model belongs", () => {
  expect(pageOf("/p/m/overview")).toBe("overview");
  expect(pageOf("/p/m/backtests")).toBe("backtests");
  expect(pageOf("/p/m/backtests/compare")).toBe("backtests");
  expect(pageOf("/p/m/b-1/backtest")).toBe("backtests");
  expect(pageOf("/p/m/settings/")).toBe("settings");
});

it("gives each page its own title, and leaves that of a backtest to itself", () => {
  expect(titleOf("/p/m/orders")).toBe("Orders");
  expect(titleOf("/p/m/backtests")).toBe("Backtests");
  expect(titleOf("/p/m/backtests/compare")).toBeNull();
  expect(titleOf("/p/m/b1/backtest")).toBeNull();
});

it("has no tab for a page that a screener cannot fill, unless it is open", () => {
  const names = (type: "strategy" | "screener", counts: Record<string, number>, here = "") =>
    pagesOf({ type, counts }, here).map(([page]) => page);
  expect(names("strategy", {})).toEqual(PAGES.map(([page]) => page).filter((page) => page !== "screener")); // biome-ignore format: one line
  expect(names("strategy", { "screener-result": 1 })).toContain("screener");
  expect(names("screener", { log: 1, lifecycle: 1 })).toEqual(["overview", "logs", "events", "screener", "versions", "settings"]); // biome-ignore format: one line
  expect(names("screener", { log: 1 }, "prices")).toContain("prices");
  expect(names("screener", { "mark-price": 1 })).toContain("prices");
  expect(names("screener", { "spot-market": 1 })).toContain("trades");
  expect(names("screener", { "backtest-status": 1 })).toContain("backtests");
});
