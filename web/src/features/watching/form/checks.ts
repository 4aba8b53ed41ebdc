/** What is wrong in a rule that somebody writes, in the words of the form. Pure. */
import { Problem } from "~/api/problem";
import { secondsOf } from "../lengths";
import type { Condition } from "../queries";

/** Of a draft, what can be written wrong. */
interface Written {
  limit: string;
  options: Readonly<Record<string, string>>;
  lasting: string;
  after: string;
}

/** By the server's names of the fields. */
export type Mistakes = Readonly<Record<string, string>>;

const LABELS: Record<string, string> = {
  model_id: "Look at",
  when: "When",
  limit: "Limit",
  unit: "Unit",
  name: "Name",
  severity: "Severity",
  do: "Then tell",
  after: "If nobody acknowledges, tell again after",
  hours: "Counts",
  "hours.calendar": "Exchange",
  "hours.days": "Days",
  "hours.from": "From",
  "hours.to": "To",
  "hours.zone": "Time zone",
};
const LONGEST = 366 * 86_400;
const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** A group that begins with 0 is a fraction: 0,500 is a half and not five hundred. */
const GROUPED = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/;

export function labelOf(field: string, condition: Condition | undefined): string | null {
  if (field === "for") return condition?.is_silence ? "Silent for" : "True for";
  if (!field.startsWith("when.")) return LABELS[field] ?? null;
  const name = field.slice("when.".length);
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
}

/** NaN for what is no number. Commas count only between thousands: "5,5" is never 55. */
export function numberOf(written: string): number {
  const text = written.trim();
  return PLAIN.test(text) || GROUPED.test(text) ? Number(text.replaceAll(",", "")) : Number.NaN;
}

export function mistakesOf(draft: Written, condition: Condition): Mistakes {
  const found: Record<string, string> = {};
  const add = (field: string, said: string | null) => {
    if (said) found[field] = said;
  };
  const length = (field: string, written: string) =>
    wrongLength(written) && `${labelOf(field, condition)} must be a length of time, such as 10m.`;
  if (condition.units.length) add("limit", wrongLimit(draft.limit));
  for (const { name, kind } of condition.options) {
    const field = `when.${name}`;
    if (kind === "duration") add(field, length(field, draft.options[name] ?? "") || null);
  }
  add("for", length("for", draft.lasting) || null);
  add("after", wrongLength(draft.after) ? "Write a length of time, such as 15m." : null);
  return found;
}

function wrongLimit(written: string): string | null {
  const text = written.trim();
  if (!text) return null;
  if (/^[-−]/.test(text)) return "Write the limit without a minus.";
  if (Number.isFinite(numberOf(text))) return null;
  if (/^\d+,\d+$/.test(text)) return `Write ${text.replace(",", ".")} with a point.`;
  if (text.includes(",")) return "Write commas only between thousands, as in 12,345.6.";
  return "The limit must be a number.";
}

function wrongLength(written: string): boolean {
  if (!written.trim()) return false;
  const seconds = secondsOf(written);
  return seconds === null || seconds > LONGEST;
}

/** What the server said of a field, with the label that the field has here. */
export function inForm(error: unknown, condition: Condition | undefined): unknown {
  if (!(error instanceof Problem) || error.field === null) return error;
  const { status, code, field, message } = error;
  const label = labelOf(field, condition);
  if (!label || !message.startsWith(`${field} `)) return error;
  return new Problem(status, code, label + message.slice(field.length), field);
}

/** Whether the form has a field to show this error at. */
export function isAtField(error: unknown, condition: Condition | undefined): boolean {
  if (!(error instanceof Problem) || error.field === null || !condition) return false;
  const { field } = error;
  if (field === "limit" || field === "unit") return condition.units.length > 0;
  if (field.startsWith("when."))
    return condition.options.some(({ name }) => `when.${name}` === field);
  return labelOf(field, condition) !== null;
}
