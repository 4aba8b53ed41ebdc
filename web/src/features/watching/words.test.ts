import { describe, expect, it } from "vitest";
import type { Rule, RuleState } from "./queries";
import { amount, byUrgency, doing, inWords, ringing, stateOf, telling } from "./words";

const state = (name: string, of = "m"): RuleState => ({
  subject: of,
  name: of,
  state: name,
  since: 1,
  said: "",
  value: null,
  limit: null,
  incident_id: null,
});

const rule: Rule = {
  rule_id: "r",
  project_id: "p",
  model_id: null,
  source: "person",
  is_tightened: false,
  name: "Rule",
  when: { condition: "restarting", within: "10m" },
  limit: 3,
  unit: "count",
  for: 300,
  hours: null,
  severity: "warning",
  do: ["tell"],
  trouble: null,
  muted_until: null,
  muted_by: null,
  muted_why: null,
  created_at: 1,
  created_by: "ada",
  changed_at: 1,
  changed_by: "ada",
  states: [state("ok"), state("firing", "n")],
};

describe("the state of a rule", () => {
  it("is the worst of those that it looks at, unless it is muted", () => {
    expect(stateOf(rule, 10)).toBe("firing");
    expect(stateOf({ ...rule, muted_until: 20 }, 10)).toBe("muted");
    expect(stateOf({ ...rule, muted_until: 5 }, 10)).toBe("firing");
    expect(stateOf({ ...rule, states: [] }, 10)).toBe("waiting");
    expect(stateOf({ ...rule, trouble: "?" }, 10)).toBe("unknown");
  });

  it("puts first what matters, and says why", () => {
    const fine = { ...rule, name: "A", states: [state("ok")] };
    expect([fine, rule].toSorted(byUrgency(10)).map(({ name }) => name)).toEqual(["Rule", "A"]);
    expect(telling(rule.states).map(({ subject }) => subject)).toEqual(["n"]);
    expect(telling(fine.states)).toHaveLength(1);
  });
});

describe("a rule in words", () => {
  it("names its condition, limit, options and length", () => {
    expect(inWords(rule, undefined)).toBe("restarting · limit 3 · within 10 min · for 5 min");
    expect(amount(12.5, "percent")).toBe("12.5 %");
    expect(amount(90, "seconds")).toBe("1 min");
  });

  it("says what it does", () => {
    expect(doing(["tell", { tell: ["boss"], after: "15m" }, "stop", "halt"])).toBe(
      "tell every channel, tell boss after 15 min without acknowledgement, stop the model, halt the project",
    );
    expect(doing([])).toBe("nobody is told");
    expect([ringing(0), ringing(1), ringing(100)]).toEqual([
      "No open incidents",
      "1 open incident",
      "More than 99 open incidents",
    ]);
  });
});
