import { expect, it } from "vitest";
import { pageOf } from "./pages";

it("knows where every address of a model belongs", () => {
  expect(pageOf("/p/m/overview")).toBe("overview");
  expect(pageOf("/p/m/backtests")).toBe("backtests");
  expect(pageOf("/p/m/backtests/compare")).toBe("backtests");
  expect(pageOf("/p/m/b-1/backtest")).toBe("backtests");
  expect(pageOf("/p/m/settings/")).toBe("settings");
});
