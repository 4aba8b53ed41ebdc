/** A rule while somebody writes it: the fields of the form, and the JSON that they become. Pure. */
import { lengthText } from "../lengths";
import type { Condition, NewRule, Rule } from "../queries";
import { conditionOf } from "../words";
import { labelOf, mistakesOf, numberOf } from "./checks";

export const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export type Tells = "all" | "some" | "none";
export type Hours = "always" | "times" | "calendar";

export interface Draft {
  /** Empty: the project. */
  model: string;
  name: string;
  condition: string;
  options: Record<string, string>;
  limit: string;
  unit: string;
  lasting: string;
  severity: string;
  tells: Tells;
  channels: readonly string[];
  /** Escalation: who is told, empty for every channel, and after how long without acknowledgement. */
  after: string;
  later: readonly string[];
  stop: boolean;
  halt: boolean;
  /** Actions that the form has no field for; they are kept. */
  others: readonly unknown[];
  hours: Hours;
  zone: string;
  days: readonly string[];
  from: string;
  to: string;
  calendar: string;
}

export const EMPTY: Draft = {
  model: "",
  name: "",
  condition: "",
  options: {},
  limit: "",
  unit: "",
  lasting: "",
  severity: "warning",
  tells: "all",
  channels: [],
  after: "",
  later: [],
  stop: false,
  halt: false,
  others: [],
  hours: "always",
  zone: "UTC",
  days: DAYS.slice(0, 5),
  from: "09:00",
  to: "17:30",
  calendar: "XNYS",
};

/** A draft about another condition: what the old one took means nothing to it. */
export function about(draft: Draft, condition: Condition): Draft {
  const options = Object.fromEntries(
    condition.options.map((one) => [one.name, lengthText(one.default as string | number | null)]),
  );
  return {
    ...draft,
    condition: condition.name,
    options,
    limit: condition.default_limit === null ? "" : String(condition.default_limit),
    unit: condition.units[0] ?? "",
    lasting: condition.is_silence ? draft.lasting || "1h" : "",
    stop: draft.stop && mayStop(draft.model, condition),
  };
}

/** Whether a rule about this looks at models one by one. */
export function mayStop(model: string, condition: Condition | undefined): boolean {
  return model !== "" || condition?.each_model === true;
}

/** What a rule about no single model looks at. */
export function wholeOf(condition: Condition | undefined): string {
  if (!condition || condition.each_model) return "Every model of the project";
  const isOfAccount = condition.about === "money" || condition.about === "exposure";
  return isOfAccount ? "The project as one account" : "The project as a whole";
}

export function draftOf(rule: Rule): Draft {
  const when = typeof rule.when === "string" ? {} : rule.when;
  const draft: Draft = {
    ...EMPTY,
    model: rule.model_id ?? "",
    name: rule.name,
    condition: conditionOf(rule),
    options: Object.fromEntries(
      Object.entries(when)
        .filter(([name]) => name !== "condition")
        .map(([name, value]) => [name, lengthText(value as string | number)]),
    ),
    limit: rule.limit === null ? "" : String(rule.limit),
    unit: rule.unit ?? "",
    lasting: lengthText(rule.for),
    severity: rule.severity,
    tells: "none",
  };
  return withHours(withActions(draft, rule.do), rule.hours);
}

function withActions(draft: Draft, actions: readonly unknown[]): Draft {
  const found = { ...draft };
  const others: unknown[] = [];
  for (const one of actions) {
    const said = (typeof one === "object" && one !== null ? one : {}) as {
      tell?: unknown;
      after?: string | number;
    };
    const names = Array.isArray(said.tell) ? (said.tell as string[]) : [];
    if (one === "stop") found.stop = true;
    else if (one === "halt") found.halt = true;
    else if (one === "tell" && found.tells === "none") found.tells = "all";
    else if (said.tell && said.after === undefined && found.tells === "none") {
      found.tells = names.length ? "some" : "all";
      found.channels = names;
    } else if (said.tell && said.after !== undefined && !found.after) {
      found.after = lengthText(said.after);
      found.later = names;
    } else others.push(one);
  }
  return { ...found, others };
}

function withHours(draft: Draft, hours: Rule["hours"]): Draft {
  if (!hours) return draft;
  const text = (name: string, otherwise: string) =>
    typeof hours[name] === "string" ? (hours[name] as string) : otherwise;
  if (hours.calendar) return { ...draft, hours: "calendar", calendar: text("calendar", "") };
  return {
    ...draft,
    hours: "times",
    zone: text("zone", "UTC"),
    days: Array.isArray(hours.days) ? (hours.days as string[]) : DAYS,
    from: text("from", "00:00"),
    to: text("to", "24:00"),
  };
}

/** The rule as the server takes it. */
export function bodyOf(draft: Draft, condition: Condition | undefined): NewRule {
  const options = Object.fromEntries(
    Object.entries(draft.options).filter(([, value]) => value.trim() !== ""),
  );
  const limited = condition ? condition.units.length > 0 : draft.limit !== "";
  return {
    name: draft.name.trim() || condition?.title || draft.condition,
    when: Object.keys(options).length
      ? { condition: draft.condition, ...options }
      : draft.condition,
    limit: limited && draft.limit.trim() ? numberOf(draft.limit) : null,
    unit: limited ? draft.unit || null : null,
    for: draft.lasting.trim() || null,
    hours: hoursOf(draft),
    severity: draft.severity,
    do: actionsOf(draft),
    model_id: draft.model || null,
  };
}

export function actionsOf(draft: Draft): unknown[] {
  const { tells, channels, after, later } = draft;
  return [
    ...(tells === "all" ? ["tell"] : []),
    ...(tells === "some" && channels.length ? [{ tell: [...channels] }] : []),
    ...(after.trim() ? [{ tell: later.length ? [...later] : "all", after: after.trim() }] : []),
    ...(draft.stop ? ["stop"] : []),
    ...(draft.halt ? ["halt"] : []),
    ...draft.others,
  ];
}

function hoursOf(draft: Draft): NewRule["hours"] {
  if (draft.hours === "always") return null;
  if (draft.hours === "calendar") return { calendar: draft.calendar.trim() };
  return { zone: draft.zone.trim(), days: [...draft.days], from: draft.from, to: draft.to };
}

export const MARKED = "Correct what is marked.";

/** What a person still has to do before the rule can be kept, or null. */
export function lacking(draft: Draft, condition: Condition | undefined): string | null {
  if (!condition) return "Choose what to watch.";
  if (condition.units.length && draft.limit.trim() === "") return "Enter a limit.";
  if (condition.is_silence && !draft.lasting.trim()) return "Enter how long it may be silent.";
  const missed = condition.options.find((one) => one.required && !draft.options[one.name]?.trim());
  if (missed) return `Fill in “${labelOf(`when.${missed.name}`, condition)}”.`;
  if (draft.hours === "times" && draft.days.length === 0) return "Choose at least one day.";
  return Object.keys(mistakesOf(draft, condition)).length ? MARKED : null;
}
