import { describe, expect, it } from "vitest";
import { limitsOf } from "./limits";
import type { Rule } from "./queries";

const rule = (when: string, limit: number, unit: string, severity = "warning"): Rule => ({
  rule_id: when,
  project_id: "p",
  model_id: "m",
  source: "person",
  is_tightened: false,
  name: "Mine",
  when,
  limit,
  unit,
  for: null,
  hours: null,
  severity,
  do: [],
  trouble: null,
  muted_until: null,
  muted_by: null,
  muted_why: null,
  created_at: 1,
  created_by: "ada",
  changed_at: 1,
  changed_by: "ada",
  states: [],
});

describe("limits on charts", () => {
  it("are those that a curve can cross, of this model alone", () => {
    const rules = [
      rule("drawdown", 10, "percent", "critical"),
      rule("drawdown", 500, "money"),
      rule("account-below", 9_000, "money"),
      rule("profit-target", 1_000, "money"),
      rule("crashed", 3, "count"),
      { ...rule("account-below", 1, "money"), model_id: null },
    ];
    expect(limitsOf(rules, "m")).toEqual({
      drawdown: [{ value: -0.1, label: "Mine: 10 %", colour: "bad" }],
      account: [{ value: 9_000, label: "Mine: 9,000", colour: "warn" }],
      profit: [{ value: 1_000, label: "Mine: 1,000", colour: "warn" }],
    });
    expect(limitsOf(rules, null).account).toHaveLength(1);
  });
});
