import { describe, expect, it } from "vitest";
import type { Condition, Rule, RuleState } from "./queries";
import {
  amount,
  byUrgency,
  doing,
  entryOf,
  inWords,
  personOf,
  ringing,
  stateOf,
  statesOf,
  telling,
} from "./words";

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
  it("is the worst of those that it looks at; a mute hides no open incident", () => {
    expect(stateOf(rule, 10)).toBe("firing");
    const muted = { ...rule, muted_until: 20 };
    expect(statesOf(muted, 10)).toEqual(["firing", "muted"]);
    const unsure = { ...state("unknown"), incident_id: "i" };
    expect(statesOf({ ...muted, states: [unsure] }, 10)).toEqual(["firing", "muted"]);
    expect(statesOf({ ...muted, states: [state("pending")] }, 10)).toEqual(["muted"]);
    expect(statesOf(rule, 10)).toEqual(["firing"]);
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
    const options = [
      { name: "matches", kind: "pattern", help: "", default: null, required: true },
    ] as Condition["options"];
    const lines = { ...rule, when: { condition: "log-line", matches: "10m" }, limit: null, for: 0 };
    expect(inWords(lines, { title: "A line", options } as Condition)).toBe(
      "A line · matches “10m”",
    );
    expect(amount(12.5, "percent")).toBe("12.5 %");
    expect(amount(90, "seconds")).toBe("1 min");
  });

  it("says what happened once, and names people alone", () => {
    expect(entryOf("told", "Told On call.")).toEqual({ heading: "Told On call.", text: "" });
    expect(entryOf("fired", "It fell.")).toEqual({ heading: "Fired", text: "It fell." });
    expect(["rules", "messages", "ada", "", null].map(personOf)).toEqual([
      null,
      null,
      "ada",
      null,
      null,
    ]);
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
