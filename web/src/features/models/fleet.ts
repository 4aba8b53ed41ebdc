/** The rows of the list of models, and their totals. */

import type { DeployedRun } from "~/api/queries";
import type { Glance, LastOrder } from "~/api/types";
import { type Status, statusOf, urgency } from "~/features/model/status";
import { byName } from "~/format/names";

export interface Row {
  model: Glance;
  run: DeployedRun | undefined;
  status: Status;
}

export interface Totals {
  up: number;
  troubled: number;
  all: number;
  /** One sum per currency: there is no exchange rate to add them with. */
  gains: Amount[];
  /** Whether a symbol of any model is not computed, so that no sum includes it. */
  isPartial: boolean;
}

export interface Amount {
  currency: string | null;
  value: number;
}

export type Filter = "all" | "up" | "troubled" | "idle";

export function rowsOf(models: readonly Glance[], runs: readonly DeployedRun[]): Row[] {
  const byModel = new Map(runs.map((run) => [run.model_id, run]));
  return models.map((model) => {
    const run = byModel.get(model.id);
    return { model, run, status: statusOf(run, model.lifecycle) };
  });
}

export function totalsOf(rows: readonly Row[]): Totals {
  const gains = new Map<string | null, number>();
  for (const { model } of rows) {
    for (const { currency, value } of amountsOf(model.pnl))
      gains.set(currency, (gains.get(currency) ?? 0) + value);
  }
  return {
    up: rows.filter(({ status }) => status.tone === "good").length,
    troubled: rows.filter(({ status }) => status.tone === "bad").length,
    all: rows.length,
    gains: [...gains].map(([currency, value]) => ({ currency, value })),
    isPartial: rows.some(({ model }) => model.pnl.is_partial),
  };
}

/** A model's result in each of its currencies, the main one first. */
export function amountsOf({ value, currency, by_currency }: Glance["pnl"]): Amount[] {
  if (value === null) return [];
  const others = Object.entries(by_currency).filter(([name]) => name !== currency);
  return [{ currency, value }, ...others.map(([name, one]) => ({ currency: name, value: one }))];
}

/** When an order was made by its own account; it may have been reported much later. */
export function orderedAt(order: LastOrder | null): number | null {
  return order?.time ?? order?.received_at ?? null;
}

export function filtered(rows: readonly Row[], filter: Filter, typed: string): Row[] {
  const wanted = typed.trim().toLowerCase();
  return rows.filter(
    (row) =>
      passes(row, filter) &&
      (!wanted ||
        `${row.model.name} ${row.model.id} ${row.model.general_description}`
          .toLowerCase()
          .includes(wanted)),
  );
}

/** By result within a currency: amounts in different ones cannot be compared. */
export function byProfit(first: Row, second: Row): number {
  const [one, other] = [first.model.pnl, second.model.pnl];
  if (one.value === null || other.value === null)
    return Number(one.value !== null) - Number(other.value !== null);
  return (other.currency ?? "").localeCompare(one.currency ?? "") || one.value - other.value;
}

/** Models that need attention come first. */
export function byUrgency(first: Row, second: Row): number {
  return (
    urgency(first.status) - urgency(second.status) || byName(first.model.name, second.model.name)
  );
}

function passes({ status }: Row, filter: Filter): boolean {
  if (filter === "up") return status.tone === "good" || status.tone === "busy";
  if (filter === "troubled") return status.tone === "bad";
  if (filter === "idle") return status.tone === "idle" || status.tone === "warn";
  return true;
}
