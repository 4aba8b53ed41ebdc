import { compact } from "~/format/numbers";

/**
 * Orders as marks on a chart. Orders of one side that fall on the same few pixels become one mark
 * with a count, so that both sides stay visible, even on a phone.
 */
export interface Traded {
  id?: string | null;
  time: number;
  side: string;
  /** How many orders the server counted together. */
  count?: number;
  /** Whether there are more than it counted. */
  more?: boolean;
  /** Where the chart has an axis of prices; elsewhere an order lies on the curve. */
  price?: number | null;
}

export interface Bucket {
  time: number;
  side: "buy" | "sell";
  count: number;
  more: boolean;
  /** The last order in it, and its price. */
  id: string;
  price: number | null;
}

export interface View {
  from: number;
  to: number;
  /** In pixels. */
  width: number;
}

export const MARK_PIXELS = 30;

export function bucketed(orders: readonly Traded[], view: View, pixels = MARK_PIXELS): Bucket[] {
  const span = view.to - view.from;
  if (view.width <= 0) return [];
  const step = span > 0 ? (span / view.width) * pixels : Number.POSITIVE_INFINITY;
  const found = new Map<string, Bucket>();
  for (const { id, time, side, count = 1, more = false, price = null } of orders) {
    if (time < view.from || time > view.to) continue;
    const named = side.toLowerCase() === "sell" ? "sell" : "buy";
    const place = Number.isFinite(step) ? Math.floor((time - view.from) / step) : 0;
    const key = `${place} ${named}`;
    const bucket = found.get(key);
    if (!bucket) {
      found.set(key, { time, side: named, count, more, price, id: id ?? key });
    } else {
      bucket.count += count;
      bucket.more ||= more;
      if (time >= bucket.time) {
        bucket.time = time;
        bucket.id = id ?? key;
        bucket.price = price;
      }
    }
  }
  return [...found.values()].sort((first, second) => first.time - second.time);
}

/** The number of orders behind a mark, if there is more than one. */
export function counted({ count, more }: Pick<Bucket, "count" | "more">): string {
  return count > 1 ? `${compact(count)}${more ? "+" : ""}` : "";
}
