/** Changes after the fact, in words. `tapeline verify` and shared pages say the same. */
import type { Change, FieldChange, Order } from "~/api/types";
import { plural, price, quantity } from "~/format/numbers";
import { lasting, stamp } from "~/format/times";

const SUBJECTS: Record<Change["about"], string> = {
  order: "Order",
  price: "Price",
  cash: "Cash",
  position: "Position",
  own_figures: "The model's own figures",
  account: "Account",
  symbol: "Symbol",
};
const FACTS: Partial<Record<Change["about"], string>> = {
  order: "the fill",
  own_figures: "the first of them",
  account: "the first report",
  symbol: "its first report",
};
const SOURCES: Record<string, string> = {
  computed: "computed",
  model: "the model's own",
  off: "none",
};
const SIZES = new Set(["size", "multiplier"]);

/** What was changed, as far as it has a name. */
export function subjectOf({ about, symbol }: Change): string {
  return [SUBJECTS[about], symbol].filter(Boolean).join(" ");
}

/** As in: price changed from 60.00 to 190.00. */
export function changeOf({ sort, about, fields = [] }: Change): string {
  if (sort === "withdrawn") return "assumed fill taken out";
  if (sort === "early") return ["dated into the future", said(fields)].filter(Boolean).join(": ");
  if (about === "own_figures") return fields.map(ownOf).filter(Boolean).join(", ") || "changed";
  if (about === "symbol") return ["not computed any more", said(fields)].filter(Boolean).join(": ");
  if (sort === "late") return ["reported late", said(fields)].filter(Boolean).join(": ");
  return fields.map(fieldOf).join(", ") || "sent again with other content";
}

/** As in: 5 h after the fill. */
export function afterOf({ sort, about, late_by, time, received_at }: Change): string {
  if (sort === "early") return `${lasting(time - received_at)} before its time`;
  const fact = sort === "withdrawn" ? "the order" : (FACTS[about] ?? "its time");
  return `${lasting(late_by)} after ${sort === "late" ? "its time" : fact}`;
}

/** An order's lateness as in: 5 h late. Empty if nothing came after the fact. */
export function latenessOf({ late_by, changes }: Pick<Order, "late_by" | "changes">): string {
  if (late_by === null && changes.some(({ sort }) => sort === "withdrawn")) return "changed later";
  if (late_by === null) return changes.length > 0 ? "dated ahead" : "";
  const isChanged = changes.some(({ sort }) => sort === "changed");
  return `${lasting(late_by)} ${isChanged ? "after: changed" : "late"}`;
}

function said(fields: readonly FieldChange[]): string {
  return fields
    .filter(({ name, after }) => after !== null && name !== "symbol" && name !== "time")
    .map((field) => (field.name === "values" ? countOf(field) : firstOf(field)))
    .join(", ");
}

function firstOf({ name, after }: FieldChange): string {
  return name === "reason" ? `${after}` : `${wordOf(name)} ${written(name, after)}`;
}

/** As in: figures changed from computed to the model's own. */
function ownOf(field: FieldChange): string {
  const { name, before, after } = field;
  if (name === "source")
    return `figures changed from ${SOURCES[`${before}`]} to ${SOURCES[`${after}`]}`;
  if (name === "values") return `${countOf(field)} changed`;
  if (before === null && after === null) return "";
  return fieldOf({ name: "the last value", before, after });
}

function countOf({ after }: FieldChange): string {
  return plural(Number(after ?? 0), "value", "values");
}

function fieldOf({ name, before, after }: FieldChange): string {
  const [old, now] = [written(name, before), written(name, after)];
  const word = wordOf(name);
  if (old && now) return `${word} changed from ${old} to ${now}`;
  if (now) return `${word} set to ${now}`;
  return old ? `${word} ${old} taken out` : `${word} changed`;
}

function wordOf(name: string): string {
  return name.replaceAll("_", " ");
}

function written(name: string, value: number | string | null): string {
  if (value === null || typeof value === "string") return value ?? "";
  if (name === "time") return stamp(value);
  return SIZES.has(name) ? quantity(value) : price(value);
}
