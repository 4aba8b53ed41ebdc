import { describe, expect, it } from "vitest";
import type { DeployedRun } from "~/api/queries";
import type { Glance, LastOrder } from "~/api/types";
import { statusOf } from "~/features/model/status";
import { amountsOf, byUrgency, filtered, orderedAt, rowsOf, totalsOf } from "./fleet";

const nothing = { message: null, start_at: null, end_at: null, running: null };

function glance(
  id: string,
  value: number | null,
  currency: string | null,
  more: Partial<Glance["pnl"]> = {},
): Glance {
  return {
    id,
    project_id: "p",
    name: id,
    type: "strategy",
    general_description: "",
    created_at: 0,
    lifecycle: nothing,
    version: null,
    last_order: null,
    last_backtest: null,
    plan: null,
    python_version: null,
    newest_version: null,
    symbols: [],
    exchanges: [],
    counts: {},
    usage: null,
    pnl: {
      source: "computed",
      currency,
      value,
      realized: value,
      unrealized: 0,
      fees: 0,
      is_partial: false,
      by_currency: value === null || currency === null ? {} : { [currency]: value },
      ...more,
    },
  };
}

function run(model_id: string, state: string, more: Partial<DeployedRun> = {}): DeployedRun {
  return {
    model_id,
    state,
    reason: "",
    restarts: 0,
    kind: "live",
    schedule: null,
    ...more,
  } as DeployedRun;
}

describe("a fleet", () => {
  const rows = rowsOf(
    [
      glance("a", 10, "USD"),
      glance("b", -4, "USD"),
      glance("c", 2, "EUR"),
      glance("d", null, null),
    ],
    [run("a", "running"), run("b", "crashed", { reason: "Exit code 1." }), run("c", "installing")],
  );
  it("is added up by currency and never over them", () => {
    expect(totalsOf(rows)).toEqual({
      up: 1,
      troubled: 1,
      all: 4,
      gains: [
        { currency: "USD", value: 6 },
        { currency: "EUR", value: 2 },
      ],
      isPartial: false,
    });
  });
  it("has every currency of every model, and says when a symbol is missing", () => {
    const mixed = glance("m", 5, "EUR", { by_currency: { EUR: 5, JPY: -700 }, is_partial: true });
    expect(amountsOf(mixed.pnl)).toEqual([
      { currency: "EUR", value: 5 },
      { currency: "JPY", value: -700 },
    ]);
    expect(totalsOf([...rows, ...rowsOf([mixed], [])])).toMatchObject({
      gains: [
        { currency: "USD", value: 6 },
        { currency: "EUR", value: 7 },
        { currency: "JPY", value: -700 },
      ],
      isPartial: true,
    });
  });
  it("knows when an order was made, not when it was reported", () => {
    const order = { time: 100, received_at: 900 } as LastOrder;
    expect(orderedAt(order)).toBe(100);
    expect(orderedAt({ ...order, time: null })).toBe(900);
    expect(orderedAt(null)).toBeNull();
  });
  it("is filtered by state and by name", () => {
    expect(filtered(rows, "up", "").map(({ model }) => model.id)).toEqual(["a", "c"]);
    expect(filtered(rows, "troubled", "").map(({ model }) => model.id)).toEqual(["b"]);
    expect(filtered(rows, "all", " A ").map(({ model }) => model.id)).toEqual(["a"]);
  });
  it("does not count a model that waits for a host as failed", () => {
    const waits = rowsOf(
      [glance("a", null, null)],
      [run("a", "pending", { trouble: "It waits for room." })],
    );
    expect(totalsOf(waits)).toMatchObject({ up: 0, troubled: 0 });
    expect(filtered(waits, "troubled", "")).toEqual([]);
    expect(filtered(waits, "up", "")).toEqual([]);
    expect(filtered(waits, "idle", "")).toEqual(waits);
    expect([...rows, ...waits].toSorted(byUrgency)[1]).toBe(waits[0]);
  });
  it("shows first what needs a look", () => {
    expect(rows.toSorted(byUrgency).map(({ model }) => model.id)).toEqual(["b", "c", "a", "d"]);
  });
});

describe("the status of a model", () => {
  it("is its own word while it is up, and ours when it is not", () => {
    expect(
      statusOf(run("a", "running"), { ...nothing, message: "Waiting for the open" }).label,
    ).toBe("Waiting for the open");
    expect(
      statusOf(run("a", "crashed"), { ...nothing, message: "Waiting for the open" }).label,
    ).toBe("Crashed");
    expect(statusOf(run("a", "crashed"), { ...nothing, message: "Out of Memory" }).label).toBe(
      "Out of Memory",
    );
  });
  it("of a server on hold does not run, whatever its last state was", () => {
    const held = run("a", "running", { hold: "on hold since noon: It was restored." });
    expect(statusOf(held, nothing)).toMatchObject({
      label: "On hold",
      detail: "This server is on hold since noon: It was restored.",
      isUp: false,
    });
  });
  it("on a silent host is unknown, and says why", () => {
    const lost = run("a", "running", {
      trouble: "It belongs to the host h, whose server is down.",
      silent_host: "h",
    });
    expect(statusOf(lost, { ...nothing, message: "Trading" })).toMatchObject({
      label: "Host silent",
      tone: "bad",
      detail: "It belongs to the host h, whose server is down.",
      isUp: true,
    });
  });
  it("that no host takes says what it waits for", () => {
    const waits = run("a", "pending", { trouble: "It waits for a host with Python 3.9." });
    expect(statusOf(waits, nothing)).toMatchObject({
      label: "Waiting",
      tone: "warn",
      detail: "It waits for a host with Python 3.9.",
    });
  });
  it("of a screener between its runs is scheduled", () => {
    expect(statusOf(run("a", "pending", { schedule: "0 * * * *" }), nothing)).toMatchObject({
      label: "Scheduled",
      tone: "good",
      isUp: true,
    });
  });
  it("of a model that runs elsewhere is what it says", () => {
    expect(statusOf(null, { ...nothing, running: true, message: "Trading" })).toMatchObject({
      label: "Trading",
      isUp: false,
    });
    expect(statusOf(undefined, nothing).label).toBe("Not deployed");
  });
});
