/** What the address of a price chart says: symbol, interval, shape, and a moment to go to. */

export interface PriceSearch {
  symbol?: string;
  interval?: string;
  shape?: "line";
  /** Epoch seconds. */
  at?: number;
  /** Of the chart; charts/figure/range reads it. */
  range?: string;
}

export const INTERVALS = ["1m", "5m", "15m", "1h", "4h", "1d"];

/** Anything else in an address is left out. */
export function priceSearch(search: Record<string, unknown>): PriceSearch {
  const { symbol, interval, shape, at, range } = search;
  return {
    ...(typeof symbol === "string" || typeof symbol === "number" ? { symbol: `${symbol}` } : {}),
    ...(INTERVALS.includes(interval as string) ? { interval: interval as string } : {}),
    ...(shape === "line" ? { shape } : {}),
    ...(Number.isFinite(at) ? { at: at as number } : {}),
    ...(typeof range === "string" ? { range } : {}),
  };
}
