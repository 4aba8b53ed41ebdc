/** The curves of a portfolio and a sentence about them. The days are those of UTC, in every zone. */
import type { Portfolio } from "~/api/types";
import { drawdownPane, type Pane, type PanePoint, seenOf, type View } from "~/charts/panes";
import { signedPercent } from "~/features/backtests/metrics";
import type { Limits } from "~/features/watching/limits";
import { amount, money, percent } from "~/format/numbers";
import { utc } from "~/format/times";

export type Shape = "value" | "return";

const NONE = { account: [], drawdown: [] };

/** From the first day to the last; null before there are two. */
export function spanOf({ account }: Portfolio): View | null {
  const [first, last] = [account[0], account.at(-1)];
  return first && last && last.time > first.time ? { from: first.time, to: last.time } : null;
}

export function panesOf(
  found: Portfolio,
  shape: Shape,
  limits: Pick<Limits, "account" | "drawdown"> = NONE,
): Pane[] {
  const isReturn = shape === "return" && found.returns.length > 0;
  const main: Pane = isReturn
    ? {
        id: "return",
        weight: 3,
        scale: "percent",
        format: signedPercent,
        curves: [
          { id: "return", label: "Return", colour: "up", kind: "gain", points: found.returns },
        ],
      }
    : {
        id: "value",
        weight: 3,
        format: (value) => amount(value, found.currency),
        exact: (value) => money(value, found.currency),
        curves: [
          {
            id: "value",
            label: `Account value in ${found.currency}`,
            colour: "accent",
            kind: "area",
            points: found.account,
          },
        ],
        levels: limits.account,
      };
  if (found.drawdown.length === 0) return [main];
  return [main, { ...drawdownPane(found.drawdown), levels: limits.drawdown }];
}

/** Of the days in view. */
export function inWords(found: Portfolio, seen: View): string {
  const values = known(seenOf(found.account, seen));
  const [first, last] = [values[0], values.at(-1)];
  if (!first || !last) return "There is no day in this range.";
  const value = `From ${day(first)} to ${day(last)}, the account went from ${money(first.value, found.currency)} to ${money(last.value, found.currency)}.`;
  return [value, returned(found, seen), deepest(found, seen)].filter(Boolean).join(" ");
}

/** Deposits are no return, so it is not the change of the value. The first day has its own return. */
function returned({ returns }: Portfolio, seen: View): string {
  const values = known(seenOf(returns, seen));
  const [first, last] = [values[0], values.at(-1)];
  if (!first || !last) return "";
  const before = first.time === returns[0]?.time ? 0 : first.value;
  if (before <= -1) return "";
  return `It returned ${signedPercent((1 + last.value) / (1 + before) - 1)}, without deposits and withdrawals.`;
}

function deepest({ drawdown }: Portfolio, seen: View): string {
  const values = known(seenOf(drawdown, seen));
  const low = values.reduce<Known | null>(
    (one, other) => (one && one.value <= other.value ? one : other),
    null,
  );
  if (!low || low.value === 0) return "";
  return `The deepest drawdown was ${percent(low.value)} on ${day(low)}.`;
}

type Known = { time: number; value: number };

function known(points: readonly PanePoint[]): Known[] {
  return points.flatMap(({ time, value }) => (value === null ? [] : [{ time, value }]));
}

function day({ time }: Known): string {
  return utc(time).slice(0, 10);
}
