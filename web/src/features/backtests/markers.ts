/**
 * Trades on a chart, gathered by pixel and side: a fixed stride would make one side vanish where
 * trades alternate, and a thousand arrows on one another say nothing.
 */
import type { Trade } from "./shapes";

export interface Marker {
  time: number;
  side: "buy" | "sell";
  count: number;
  /** Of all that are gathered, weighed by size where sizes are known; null where no price is. */
  price: number | null;
}

export interface Stretch {
  from: number;
  to: number;
}

/** Pixels that one arrow takes. */
const APART = 14;

export function bucketed(
  trades: readonly Trade[],
  shown: Stretch,
  width: number,
  apart = APART,
): Marker[] {
  const span = shown.to - shown.from;
  if (!(span >= 0) || width <= 0) return [];
  const places = Math.max(1, Math.floor(width / apart));
  const buckets = new Map<string, Trade[]>();
  for (const trade of trades) {
    const side = sideOf(trade);
    if (side === null || trade.time < shown.from || trade.time > shown.to) continue;
    const share = span === 0 ? 0 : (trade.time - shown.from) / span;
    const key = `${side} ${Math.min(places - 1, Math.floor(share * places))}`;
    const found = buckets.get(key);
    if (found) found.push(trade);
    else buckets.set(key, [trade]);
  }
  return [...buckets]
    .map(([key, some]) => gathered(key.startsWith("buy") ? "buy" : "sell", some))
    .sort((one, other) => one.time - other.time || one.side.localeCompare(other.side));
}

/** How many of each side are within the stretch, for those who cannot see the arrows. */
export function counted(trades: readonly Trade[], shown: Stretch): { buys: number; sells: number } {
  const found = { buys: 0, sells: 0 };
  for (const trade of trades) {
    if (trade.time < shown.from || trade.time > shown.to) continue;
    const side = sideOf(trade);
    if (side === "buy") found.buys += 1;
    if (side === "sell") found.sells += 1;
  }
  return found;
}

export function priceOf(trade: Trade): number | null {
  for (const key of ["executionPrice", "executed_price", "filled_avg_price", "price"]) {
    const price = Number(trade[key] ?? Number.NaN);
    if (Number.isFinite(price)) return price;
  }
  return null;
}

function sideOf(trade: Trade): "buy" | "sell" | null {
  const side = String(trade.side).toLowerCase();
  return side === "buy" || side === "sell" ? side : null;
}

/** In the middle of what it stands for, at the moment of a trade that is there. */
function gathered(side: "buy" | "sell", some: Trade[]): Marker {
  const sorted = some.toSorted((one, other) => one.time - other.time);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  let [weight, sum] = [0, 0];
  for (const trade of some) {
    const price = priceOf(trade);
    if (price === null) continue;
    const size = Number(trade.size ?? 1);
    const counts = Number.isFinite(size) && size > 0 ? size : 1;
    weight += counts;
    sum += counts * price;
  }
  return { time: middle?.time ?? 0, side, count: some.length, price: weight ? sum / weight : null };
}
