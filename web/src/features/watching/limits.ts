/** The limits of rules as lines on charts. Pure. */
import type { Level } from "~/charts/panes";
import type { Rule } from "./queries";
import { amount, conditionOf } from "./words";

export interface Limits {
  /** In shares, below zero. */
  drawdown: Level[];
  /** In the account's currency. */
  account: Level[];
  profit: Level[];
}

/** Of rules about one thing: a model, or a project as a whole. A muted rule has its limits too. */
export function limitsOf(rules: readonly Rule[], model: string | null): Limits {
  const found: Limits = { drawdown: [], account: [], profit: [] };
  for (const rule of rules) {
    if (rule.model_id !== model || rule.limit === null || rule.limit === undefined) continue;
    const level = (value: number): Level => ({
      value,
      label: `${rule.name}: ${amount(rule.limit ?? 0, rule.unit)}`,
      colour: rule.severity === "critical" ? "bad" : "warn",
    });
    const name = conditionOf(rule);
    if (name === "drawdown" && rule.unit === "percent")
      found.drawdown.push(level(-rule.limit / 100));
    if (name === "account-below") found.account.push(level(rule.limit));
    if (name === "profit-target" && rule.unit === "money") found.profit.push(level(rule.limit));
  }
  return found;
}
