import { describe, expect, it } from "vitest";
import type { Halt, Outcome } from "./queries";
import { proofs, summary } from "./words";

const model: Outcome = {
  model_id: "m",
  model: "Trend",
  project_id: "p",
  run_id: "r",
  host: "h",
  state: "stopped",
  stopped_at: 1,
  how: "It ended 0.2 s after the halt.",
  proof: { lock_is_free: true, processes: 0, key: "refused" },
  why: null,
};

function halt(stopped: number, stopping: number, unknown: number): Halt {
  return {
    halt_id: "h",
    project_id: "p",
    in_force: true,
    at: 1,
    by: "ada",
    why: "",
    resumed_at: null,
    resumed_by: null,
    stopped,
    stopping,
    unknown,
    models: Array.from({ length: stopped + stopping + unknown }, () => model),
  };
}

describe("what a halt has come to", () => {
  it("never says that all are stopped while one is not known to be", () => {
    expect(summary(halt(0, 0, 0))).toBe("Nothing was running.");
    expect(summary(halt(1, 0, 0))).toBe("The model is stopped, with proof.");
    expect(summary(halt(3, 0, 0))).toBe("All 3 are stopped, with proof.");
    expect(summary(halt(3, 1, 1))).toBe(
      "3 of 5 models stopped, 1 stopping, 1 not known to be stopped.",
    );
  });

  it("tells a model's own word from a proof", () => {
    const told = { ...model, run_id: null };
    expect(summary({ ...halt(1, 0, 0), models: [told] })).toBe(
      "The model is stopped, by its own word.",
    );
    expect(summary({ ...halt(2, 0, 0), models: [told, model] })).toBe(
      "All 2 are stopped, 1 of them by their own word.",
    );
  });

  it("lists only what was really proven", () => {
    expect(proofs(model)).toHaveLength(3);
    expect(proofs({ ...model, proof: null })).toEqual([]);
    expect(proofs({ ...model, proof: { lock_is_free: false, processes: 2 } })).toEqual([]);
    expect(proofs({ ...model, proof: { lease_ended_at: 5, key: "refused" } })).toHaveLength(2);
    expect(proofs({ ...model, proof: { withdrawn: true, key: "refused" } })).toHaveLength(2);
    expect(proofs({ ...model, run_id: null, proof: {} })).toEqual([
      "By its own word: it runs elsewhere.",
    ]);
  });
});
