import { expect, it } from "vitest";
import { joined, nameOf, progressOf } from "./progress";
import type { Backtest, Run } from "./types";

const NOTHING: Pick<Backtest, "status" | "counts"> = {
  status: null,
  counts: { account_values: 0, trades: 0 },
};
const run = (state: string, more: Partial<Run> = {}) =>
  ({ state, desired: "running", reason: "", ...more }) as Run;
const status = (successful: boolean) => ({
  ...NOTHING,
  status: { successful, status_summary: "ValueError: no", status_details: "", time_elapsed: 1 },
});

it("is what its run is doing until it has a status", () => {
  expect(progressOf(NOTHING, run("pending"))).toMatchObject({
    label: "Queued",
    tone: "busy",
    isUp: true,
  });
  expect(progressOf(NOTHING, run("running"))).toMatchObject({
    label: "Running",
    tone: "good",
    isUp: true,
  });
  expect(progressOf(NOTHING, run("running", { desired: "stopped" }))).toMatchObject({
    label: "Stopping",
    isUp: false,
  });
});

it("waits for a host, or has a silent one, until it is stopped", () => {
  const trouble = "It waits for room.";
  expect(progressOf(NOTHING, run("pending", { trouble }))).toEqual({
    label: "Waiting",
    tone: "warn",
    detail: trouble,
    isUp: true,
  });
  expect(progressOf(NOTHING, run("pending", { trouble, silent_host: "h" }))).toMatchObject({
    label: "Host silent",
    tone: "bad",
  });
  expect(progressOf(NOTHING, run("pending", { trouble, desired: "stopped" }))).toMatchObject({
    label: "Stopping",
    isUp: false,
  });
});

it("is what its status says from then on", () => {
  expect(progressOf(status(true), run("exited"))).toMatchObject({ label: "Done", isUp: false });
  expect(progressOf(status(false), run("crashed"))).toMatchObject({
    label: "Failed",
    detail: "ValueError: no",
  });
  expect(progressOf(status(false), run("stopped"))).toMatchObject({ label: "Stopped" });
});

it("may have been made elsewhere, where there is no run to ask", () => {
  expect(progressOf({ ...NOTHING, symbols: [] }, null)).toMatchObject({ label: "Result" });
  expect(progressOf(NOTHING, null)).toMatchObject({ label: "In progress" });
});

it("finds the run of each", () => {
  const backtest = { ...NOTHING, backtest_id: "b" } as Backtest;
  const [row] = joined(
    [backtest],
    [run("running", { backtest_id: "b" }), run("exited", { backtest_id: null })],
  );
  expect(row?.progress.label).toBe("Running");
});

it("has a name, whatever is known", () => {
  const words = { label: null, description: null, backtest_id: "abcdefghijkl" };
  expect(nameOf({ ...words, label: "L", description: "D" })).toBe("L");
  expect(nameOf(words, run("running", { description: "R" }))).toBe("R");
  expect(nameOf(words)).toBe("Backtest abcdefgh");
});
