/** The models of a portfolio by their ids, and the currencies that it can be shown in. */
import type { Schemas } from "~/api/client";
import type { Portfolio } from "~/api/types";

export type Member = Schemas["PortfolioModel"];
export type Members = ReadonlyMap<string, Member>;

export function membersOf({ models }: Portfolio): Members {
  return new Map(models.map((one) => [one.model_id, one]));
}

/** Whether an account is missing only because its currency has no rate to the chosen one. */
export function isUnconverted({ attention, models }: Portfolio): boolean {
  const lacking = new Set(
    attention.filter(({ code }) => code === "no_rate").map((one) => one.model_id),
  );
  return models.some((one) => one.capital !== null && lacking.has(one.model_id));
}

/** Those of capitals, profits and rates; sorted, the chosen one included. */
export function currenciesOf({ currency, models, rates }: Portfolio): string[] {
  const named = models.flatMap(({ capital, profits }) => [
    ...(capital ? [capital.currency] : []),
    ...Object.keys(profits),
  ]);
  return [...new Set([currency, ...named, ...rates.map((one) => one.currency)])].sort();
}
