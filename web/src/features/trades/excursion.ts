/** How far a round trip was ahead and behind while it was held, as shares of its entry. */
import type { Trip } from "./queries";

export interface Excursion {
  best: number | null;
  worst: number | null;
}

type Prices = Pick<Trip, "side" | "entry_price" | "best_price" | "worst_price">;

export function excursionOf(trip: Prices): Excursion {
  return { best: ahead(trip, trip.best_price), worst: ahead(trip, trip.worst_price) };
}

/** A short position gains when the price falls. */
function ahead({ side, entry_price: entry }: Prices, price: number | null): number | null {
  if (price === null || entry === null || !(entry > 0)) return null;
  return side === "long" ? price / entry - 1 : 1 - price / entry;
}
