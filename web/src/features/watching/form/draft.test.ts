import { describe, expect, it } from "vitest";
import { lengthText, secondsOf } from "../lengths";
import type { Condition, Rule } from "../queries";
import { about, actionsOf, bodyOf, type Draft, draftOf, EMPTY, lacking, wholeOf } from "./draft";

const drawdown: Condition = {
  name: "drawdown",
  about: "money",
  title: "Drawdown",
  help: "",
  scopes: ["model", "project"],
  each_model: false,
  units: ["percent", "money"],
  default_limit: null,
  options: [],
  tighter: "lower",
  is_silence: false,
  has_preview: true,
};
const silence: Condition = {
  ...drawdown,
  name: "no-heartbeat",
  units: [],
  is_silence: true,
  options: [{ name: "heartbeat", kind: "text", help: "", default: null, required: true }],
};

const rule: Rule = {
  rule_id: "r",
  project_id: "p",
  model_id: "m",
  source: "person",
  is_tightened: false,
  name: "Deep",
  when: { condition: "no-heartbeat", heartbeat: "main" },
  limit: null,
  unit: null,
  for: "10m",
  hours: { zone: "Europe/Berlin", days: ["mon"], from: "09:00", to: "17:30" },
  severity: "critical",
  do: ["tell", { tell: ["boss"], after: 900 }, { tell: "all", after: "1h" }, "stop"],
  trouble: null,
  muted_until: null,
  muted_by: null,
  muted_why: null,
  created_at: 1,
  created_by: "ada",
  changed_at: 1,
  changed_by: "ada",
  states: [],
};

describe("a rule while somebody writes it", () => {
  it("comes back as it was written, with what the form has no field for", () => {
    const body = bodyOf(draftOf(rule), silence);
    expect(body).toEqual({
      name: "Deep",
      when: { condition: "no-heartbeat", heartbeat: "main" },
      limit: null,
      unit: null,
      for: "10m",
      hours: rule.hours,
      severity: "critical",
      do: ["tell", { tell: ["boss"], after: "15m" }, "stop", { tell: "all", after: "1h" }],
      model_id: "m",
    });
    const calendar = { ...rule, hours: { calendar: "XNYS" } };
    expect(bodyOf(draftOf(calendar), silence).hours).toEqual({ calendar: "XNYS" });
    expect(bodyOf(draftOf({ ...rule, hours: null, do: [] }), silence)).toMatchObject({
      hours: null,
      do: [],
    });
  });

  it("takes the words of the condition it is about, and its title for a name", () => {
    const draft: Draft = { ...about({ ...EMPTY, lasting: "5m" }, drawdown), limit: "1,000" };
    expect(draft.unit).toBe("percent");
    expect(bodyOf(draft, drawdown)).toMatchObject({
      name: "Drawdown",
      when: "drawdown",
      limit: 1000,
      unit: "percent",
      for: null,
      do: ["tell"],
      model_id: null,
    });
    expect(about(EMPTY, silence).lasting).toBe("1h");
  });

  it("says what is missing before the server has to", () => {
    expect(lacking(EMPTY, undefined)).toBe("Choose what to watch.");
    expect(lacking(about(EMPTY, drawdown), drawdown)).toBe("Enter a limit.");
    const wrong = { ...about(EMPTY, drawdown), limit: "ten" };
    expect(lacking(wrong, drawdown)).toBe("Correct what is marked.");
    expect(lacking(about(EMPTY, silence), silence)).toBe("Fill in “Heartbeat”.");
    expect(lacking({ ...wrong, limit: "10", hours: "times", days: [] }, drawdown)).toContain("day");
    expect(lacking({ ...wrong, limit: "10" }, drawdown)).toBeNull();
  });

  it("names what it looks at where it looks at no single model", () => {
    expect(wholeOf(undefined)).toBe("Every model of the project");
    expect(wholeOf({ ...drawdown, each_model: true })).toBe("Every model of the project");
    expect(wholeOf(drawdown)).toBe("The project as one account");
    expect(wholeOf({ ...drawdown, about: "platform" })).toBe("The project as a whole");
  });

  it("tells nobody where nobody was chosen", () => {
    expect(actionsOf({ ...EMPTY, tells: "some" })).toEqual([]);
    expect(actionsOf({ ...EMPTY, tells: "none", halt: true })).toEqual(["halt"]);
  });
});

describe("lengths of time", () => {
  it("are read as rules write them, and written as people would", () => {
    expect(["90s", "10m", "2h", "1d", "90", 7, "2H"].map(secondsOf)).toEqual([
      90, 600, 7200, 86_400, 90, 7, 7200,
    ]);
    expect(["soon", "", null, undefined].map(secondsOf)).toEqual([null, null, null, null]);
    expect([60, 90, 7200, 86_400, 0, "5m", null].map(lengthText)).toEqual([
      "1m",
      "90s",
      "2h",
      "1d",
      "",
      "5m",
      "",
    ]);
  });
});
