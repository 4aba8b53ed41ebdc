/** Rules, their states and what followed from them, in words. */
import { plural } from "~/format/numbers";
import { lasting } from "~/format/times";
import { secondsOf } from "./lengths";
import type { Condition, Rule, RuleState } from "./queries";

export type Tone = "good" | "warn" | "bad" | "soft";
export type State = "ok" | "pending" | "firing" | "unknown" | "muted" | "waiting";

export const STATES: Record<State, readonly [label: string, tone: Tone]> = {
  firing: ["Firing", "bad"],
  pending: ["Pending", "warn"],
  unknown: ["Cannot be evaluated", "warn"],
  muted: ["Muted", "soft"],
  waiting: ["Not evaluated yet", "soft"],
  ok: ["OK", "good"],
};
const WORST: readonly string[] = ["firing", "pending", "unknown", "ok"];

/** The state of a rule: the worst of those that it looks at. A mute hides no open incident. */
export function stateOf(rule: Rule, now: number): State {
  if (isMuted(rule, now) && !isOpen(rule)) return "muted";
  if (isMuted(rule, now)) return "firing";
  if (rule.trouble) return "unknown";
  const found = WORST.find((one) => rule.states.some(({ state }) => state === one));
  return (found as State | undefined) ?? "waiting";
}

export function isMuted({ muted_until: until }: Rule, now: number): boolean {
  return until !== null && until > now;
}

function isOpen({ states }: Rule): boolean {
  return states.some((one) => one.state === "firing" || one.incident_id !== null);
}

/** What is shown of it: a rule can be firing and muted. */
export function statesOf(rule: Rule, now: number): State[] {
  const state = stateOf(rule, now);
  return isMuted(rule, now) && state !== "muted" ? [state, "muted"] : [state];
}

/** What matters first. */
export function byUrgency(now: number) {
  const place = (rule: Rule) => Object.keys(STATES).indexOf(stateOf(rule, now));
  return (one: Rule, other: Rule) =>
    place(one) - place(other) || one.name.localeCompare(other.name);
}

/** The states that say why: all but those that are ok, unless all are. */
export function telling(states: readonly RuleState[]): RuleState[] {
  const wrong = states.filter(({ state }) => state !== "ok");
  return wrong.length ? wrong : [...states];
}

export const SEVERITIES: Record<string, readonly [label: string, tone: Tone]> = {
  info: ["Info", "soft"],
  warning: ["Warning", "warn"],
  critical: ["Critical", "bad"],
};

export const ABOUTS: Record<string, string> = {
  life: "Life",
  silence: "Silence",
  money: "Money",
  exposure: "Exposure",
  behaviour: "Behaviour",
  platform: "The platform",
};

export function conditionOf(rule: Pick<Rule, "when">): string {
  return typeof rule.when === "string" ? rule.when : String(rule.when.condition ?? "");
}

/** What a rule asks, in one line: its condition, limit, options and how long. */
export function inWords(rule: Rule, condition: Condition | undefined): string {
  const name = conditionOf(rule);
  const options = typeof rule.when === "string" ? {} : rule.when;
  const said = [condition?.title ?? name];
  if (rule.limit !== null && rule.limit !== undefined)
    said.push(`limit ${amount(rule.limit, rule.unit)}`);
  for (const [key, value] of Object.entries(options)) {
    const kind = condition?.options.find((one) => one.name === key)?.kind;
    if (key !== "condition") said.push(`${key} ${told(value, kind)}`);
  }
  const seconds = secondsOf(rule.for);
  if (seconds) said.push(`for ${lasting(seconds)}`);
  return said.join(" · ");
}

/** What somebody wrote stands in quotation marks: a pattern may read like the sentence around it. */
function told(value: unknown, kind: string | undefined): string {
  if (kind === "pattern" || kind === "text") return `“${value}”`;
  const seconds = secondsOf(value as string | number);
  return seconds ? lasting(seconds) : String(value);
}

export function amount(value: number, unit: string | null | undefined): string {
  const digits =
    Math.abs(value) < 1 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 2 };
  const number = value.toLocaleString("en", digits);
  if (unit === "percent") return `${number} %`;
  if (unit === "seconds") return lasting(value);
  if (!unit || unit === "money" || unit === "count") return number;
  return `${number} ${unit}`;
}

export const UNITS: Record<string, string> = {
  percent: "percent",
  money: "in the account's currency",
  count: "times",
  seconds: "seconds",
};

/** What a rule does when it fires. */
export function doing(actions: readonly unknown[]): string {
  const said = actions.map((one) => {
    if (one === "tell") return "tell every channel";
    if (one === "stop") return "stop the model";
    if (one === "halt") return "halt the project";
    const { tell, after } = one as { tell?: string[] | "all"; after?: string | number };
    const names = Array.isArray(tell) ? tell.join(", ") : "every channel";
    const seconds = secondsOf(after);
    return `tell ${names}${seconds ? ` after ${lasting(seconds)} without acknowledgement` : ""}`;
  });
  return said.length ? said.join(", ") : "nobody is told";
}

const WHAT: Record<string, string> = {
  fired: "Fired",
  told: "Told",
  tell_failed: "Could not tell",
  stopped: "Model stopped",
  not_stopped: "Model not stopped",
  halted: "Project halted",
  acknowledged: "Acknowledged",
  muted: "Muted",
  escalated: "Escalated",
  resolved: "Resolved",
};

export function whatHappened(what: string): string {
  return WHAT[what] ?? what.replaceAll("_", " ");
}

export function toneOf(what: string): Tone {
  if (what === "resolved" || what === "told") return "good";
  if (what === "fired" || what === "tell_failed" || what === "not_stopped") return "bad";
  return what === "acknowledged" || what === "muted" ? "soft" : "warn";
}

/** Who did it, where no person did. */
const MACHINERY: readonly string[] = ["rules", "messages"];

export function personOf(by: string | null | undefined): string | null {
  return by && !MACHINERY.includes(by) ? by : null;
}

/** An entry of a timeline: its heading, and what there is to say beyond that. */
export function entryOf(what: string, text: string): { heading: string; text: string } {
  const heading = whatHappened(what);
  const isSaid = text.toLowerCase().startsWith(heading.toLowerCase());
  return isSaid ? { heading: text, text: "" } : { heading, text };
}

/** For the bell. */
export function ringing(open: number): string {
  if (open === 0) return "No open incidents";
  return open >= 100 ? "More than 99 open incidents" : plural(open, "open incident");
}
