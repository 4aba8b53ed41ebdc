/** What the address of a portfolio says: its currency, its curve, and the range in view. */

export interface PortfolioSearch {
  currency?: string;
  show?: "return";
  /** Epoch seconds. */
  from?: number;
  to?: number;
  benchmark?: string;
}

/** Anything else in an address is left out. */
export function portfolioSearch(search: Record<string, unknown>): PortfolioSearch {
  const { currency, show, from, to, benchmark } = search;
  const isRange = Number.isFinite(from) && Number.isFinite(to) && Number(from) < Number(to);
  return {
    ...(isText(currency) && /^[A-Za-z0-9.]{2,20}$/.test(`${currency}`)
      ? { currency: `${currency}`.toUpperCase() }
      : {}),
    ...(show === "return" ? { show } : {}),
    ...(isRange ? { from: Number(from), to: Number(to) } : {}),
    ...(isText(benchmark) && benchmark !== "" ? { benchmark: `${benchmark}` } : {}),
  };
}

/** The router reads a typed number as one. */
function isText(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}
