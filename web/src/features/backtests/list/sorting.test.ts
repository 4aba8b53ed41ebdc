import { expect, it } from "vitest";
import { joined } from "~/features/backtests/progress";
import type { Backtest } from "~/features/backtests/types";
import { NEWEST, sorted, sortingOf, textOf, turned } from "./sorting";

const backtest = (id: string, created: number, sharpe: number | null): Backtest => ({
  backtest_id: id,
  created_at: created,
  label: null,
  description: null,
  arguments: null,
  status: null,
  metrics: {
    computed: {
      sharpe: { value: sharpe, display_name: "", type: "number", explanation: "", reason: null },
    },
    custom: {},
    computing: false,
  },
  counts: { account_values: 0, trades: 0 },
});
const rows = joined([backtest("a", 1, 2), backtest("b", 2, null), backtest("c", 3, -1)], []);
const ids = (found: ReturnType<typeof sorted>) =>
  found.map((row) => row.backtest.backtest_id).join("");

it("sorts by figures and puts what has none last, both ways", () => {
  expect(ids(sorted(rows, { column: "sharpe", desc: true }))).toBe("acb");
  expect(ids(sorted(rows, { column: "sharpe", desc: false }))).toBe("cab");
  expect(ids(sorted(rows, NEWEST))).toBe("cba");
});

it("turns round when asked again", () => {
  expect(turned(NEWEST, "sharpe")).toEqual({ column: "sharpe", desc: true });
  expect(turned({ column: "sharpe", desc: true }, "sharpe").desc).toBe(false);
  expect(turned(NEWEST, "name").desc).toBe(false);
});

it("is part of the address", () => {
  const chosen = { column: "sharpe", desc: true } as const;
  expect(textOf(chosen)).toBe("-sharpe");
  expect(sortingOf("-sharpe")).toEqual(chosen);
  expect([textOf(NEWEST), sortingOf(""), sortingOf("-nonsense")]).toEqual(["", NEWEST, NEWEST]);
});
