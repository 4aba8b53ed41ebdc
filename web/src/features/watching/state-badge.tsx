/** The state of a rule, and how bad an incident is: a word with its colour, never the colour alone. */
import type { Rule } from "./queries";
import { SEVERITIES, STATES, statesOf, type Tone } from "./words";

export const INKS: Record<Tone, string> = {
  good: "text-good",
  warn: "text-warn",
  bad: "text-bad",
  soft: "text-soft",
};
const GROUNDS: Record<Tone, string> = {
  good: "bg-good-ground text-good",
  warn: "bg-warn-ground text-warn",
  bad: "bg-bad-ground text-bad",
  soft: "bg-sunken text-soft",
};

function Badge({ tone, children }: { tone: Tone; children: React.ReactNode }) {
  return (
    <span
      className={`inline-block rounded-full px-2.5 py-0.5 text-sm font-medium whitespace-nowrap ${GROUNDS[tone]}`}
    >
      {children}
    </span>
  );
}

export function StateBadges({ rule, now }: { rule: Rule; now: number }) {
  return (
    <span className="flex flex-wrap gap-1.5">
      {statesOf(rule, now).map((state) => {
        const [label, tone] = STATES[state];
        return (
          <Badge key={state} tone={tone}>
            {label}
          </Badge>
        );
      })}
    </span>
  );
}

export function SeverityBadge({ severity }: { severity: string }) {
  const [label, tone] = SEVERITIES[severity] ?? [severity, "soft"];
  return <Badge tone={tone}>{label}</Badge>;
}
