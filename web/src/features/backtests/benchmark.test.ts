import { expect, it } from "vitest";
import { panesOf, returnsInWords } from "./benchmark";
import type { Benchmark } from "./types";

const at = (...values: number[]) => values.map((value, time) => ({ time, value }));
const data = { name: "SPY", items: at(0, 0.1, 0.21), account: at(0, 0.5, 0.2) } as Benchmark;

it("draws both on one axis of percent", () => {
  const [pane] = panesOf(data);
  expect(pane?.curves.map(({ label }) => label)).toEqual(["Account", "SPY"]);
  expect(pane?.scale).toBe("percent");
});

it("says what each returned over the days in view", () => {
  expect(returnsInWords(data, { from: 0, to: 2 })).toContain("+20.00");
  expect(returnsInWords(data, { from: 0, to: 2 })).toContain("SPY +21.00");
  expect(returnsInWords(data, { from: 1, to: 2 })).toContain("SPY +10.00");
  expect(returnsInWords(data, { from: 8, to: 9 })).toContain("no day");
});
