/** What needs attention, the most urgent first: models with the same trouble together. Pure. */
import type { Schemas } from "~/api/client";

type Told = Schemas["Attention"];
type Code = Told["code"];
export type PageOfModel = "overview" | "logs" | "orders" | "prices" | "settings";

/** What is said of some models. */
export interface Report {
  message: string;
  models: string[];
}

export interface Trouble {
  code: Code;
  title: string;
  tone: "bad" | "warn";
  /** The page of a model that shows the cause, or where it is put right. */
  page: PageOfModel;
  reports: Report[];
}

/** In order of urgency: money at risk, then numbers that are wrong, then numbers that are missing. */
const CODES: Record<Code, [title: string, tone: "bad" | "warn", page: PageOfModel]> = {
  crashed: ["Crashed", "bad", "logs"],
  stopped_holding: ["Holds while stopped", "bad", "overview"],
  ruined: ["Lost", "bad", "overview"],
  silent: ["Silent", "bad", "logs"],
  not_computed: ["Not computed", "warn", "overview"],
  unpriced: ["Orders without a price", "warn", "orders"],
  stale_price: ["Old price", "warn", "prices"],
  no_rate: ["No rate", "warn", "overview"],
  no_capital: ["No capital", "warn", "settings"],
  off: ["Not measured", "warn", "overview"],
};
const ORDER = Object.keys(CODES);

export function troubles(told: readonly Told[]): Trouble[] {
  const found = new Map<Code, Trouble>();
  for (const { code, message, model_id: model } of told) {
    const [title, tone, page] = CODES[code];
    const trouble = found.get(code) ?? { code, title, tone, page, reports: [] };
    found.set(code, trouble);
    const said = trouble.reports.find((one) => one.message === message);
    if (said) said.models.push(model);
    else trouble.reports.push({ message, models: [model] });
  }
  return [...found.values()].sort((a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code));
}
