import { describe, expect, it } from "vitest";
import { fillsOf, newlyFilled, newsOfRuns, type Seen } from "./news";

const RUN: Seen = {
  model_id: "m",
  run_id: "r1",
  state: "running",
  desired: "running",
  reason: "",
  restarts: 0,
  ended_at: null,
  trouble: null,
  silent_host: null,
};
const told = (before: Partial<Seen> | null, now: Partial<Seen>) =>
  newsOfRuns(before ? [{ ...RUN, ...before }] : [], [{ ...RUN, ...now }], () => "Mean", "p").map(
    ({ title, body }) => `${title}: ${body}`,
  );

describe("what happened to a model", () => {
  it("is a crash when it restarts", () => {
    expect(told({}, { state: "restarting", restarts: 1, reason: "ValueError" })).toEqual([
      "Mean crashed: ValueError",
    ]);
    expect(told({ restarts: 1 }, { restarts: 2 })).toEqual([
      "Mean crashed: It restarts, for the 2nd time.",
    ]);
  });
  it("is its end when it gave up, could not start or stopped by itself", () => {
    const ended_at = 1;
    expect(told({}, { state: "crashed", ended_at, reason: "crash 5" })).toEqual([
      "Mean has given up: crash 5",
    ]);
    expect(told({}, { state: "failed", ended_at, reason: "no numpy" })).toEqual([
      "Mean could not start: no numpy",
    ]);
    expect(told({}, { state: "exited", ended_at })).toEqual([
      "Mean stopped by itself: Its program ended.",
    ]);
  });
  it("is a host that went silent, once", () => {
    expect(told({}, { trouble: "host b is down", silent_host: "b" })).toEqual([
      "Mean has a silent host: host b is down",
    ]);
    expect(told({ trouble: "host b is down" }, { trouble: "host b is still down" })).toEqual([]);
  });
  it("is that it waits for a host", () => {
    expect(told({}, { trouble: "It waits for room." })).toEqual([
      "Mean waits for a host: It waits for room.",
    ]);
  });
  it("is nothing when somebody stopped, started or only looked at it", () => {
    const stopped = { state: "stopped", desired: "stopped", ended_at: 1 };
    expect(told({}, stopped)).toEqual([]);
    expect(told(stopped, { run_id: "r2" })).toEqual([]);
    expect(told({ state: "crashed", ended_at: 1 }, { state: "crashed", ended_at: 1 })).toEqual([]);
    expect(told(null, { state: "crashed", ended_at: 1 })).toEqual([]);
  });
});

it("tells fills that are new or grew, and not those that were there", () => {
  const order = (id: string, size: number | null) => ({
    id,
    symbol: "BTC-USD",
    side: "buy",
    fill: size === null ? null : { size, price: 1 },
  });
  const before = fillsOf([order("a", 1), order("b", null), order("c", 1)]);
  const now = [order("a", 1), order("b", 2), order("c", 3), order("d", 1), order("e", null)];
  expect(newlyFilled(before, now).map(({ id }) => id)).toEqual(["b", "c", "d"]);
});
