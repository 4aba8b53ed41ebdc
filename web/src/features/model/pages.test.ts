import { expect, it } from "vitest";
import { pageOf, pagesOf, titleOf } from "./pages";

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

it("has tabs of orders for a screener only if it trades", () => {
  const names = (type: "strategy" | "screener", counts: Record<string, number>) =>
    pagesOf({ type, counts }).map(([page]) => page);
  expect(names("strategy", {})).toContain("orders");
  expect(names("strategy", {})).not.toContain("screener");
  expect(names("screener", { log: 1 })).toContain("screener");
  expect(names("screener", { log: 1 })).not.toContain("orders");
  expect(names("screener", { "spot-market": 1 })).toContain("trades");
});
