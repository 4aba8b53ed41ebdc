/** What the address of a portfolio says: its currency, its curve, and the ranges of its charts. */

export interface PortfolioSearch {
  currency?: string;
  show?: "return";
  /** Of the account's chart and of the one beside a benchmark; charts/figure/range reads them. */
  range?: string;
  against?: string;
  benchmark?: string;
}

/** Anything else in an address is left out. */
export function portfolioSearch(search: Record<string, unknown>): PortfolioSearch {
  const { currency, show, benchmark } = search;
  return {
    ...(isText(currency) && /^[A-Za-z0-9.]{2,20}$/.test(`${currency}`)
      ? { currency: `${currency}`.toUpperCase() }
      : {}),
    ...(show === "return" ? { show } : {}),
    ...named("range", search.range ?? older(search)),
    ...named("against", search.against),
    ...named("benchmark", benchmark),
  };
}

/** Links of earlier versions had two numbers. */
function older({ from, to }: Record<string, unknown>): string {
  return Number.isFinite(from) && Number.isFinite(to) ? `${from}_${to}` : "";
}

function named(name: string, value: unknown): Record<string, string> {
  return isText(value) && value !== "" ? { [name]: `${value}` } : {};
}

/** The router reads a typed number as one. */
function isText(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}
