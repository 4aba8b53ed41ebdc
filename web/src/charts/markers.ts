/**
 * Orders as marks on a chart. Where there are more than fit, those of one side that fall on the same
 * few pixels become one mark with a count: every side stays visible, on a phone too.
 */
export interface Traded {
  id: string;
  time: number;
  side: string;
}

export interface Bucket {
  time: number;
  side: "buy" | "sell";
  count: number;
  /** The last order in it. */
  id: string;
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
  for (const { id, time, side } of orders) {
    if (time < view.from || time > view.to) continue;
    const named = side.toLowerCase() === "sell" ? "sell" : "buy";
    const place = Number.isFinite(step) ? Math.floor((time - view.from) / step) : 0;
    const key = `${place} ${named}`;
    const bucket = found.get(key);
    if (!bucket) {
      found.set(key, { time, side: named, count: 1, id });
    } else {
      bucket.count += 1;
      if (time >= bucket.time) {
        bucket.time = time;
        bucket.id = id;
      }
    }
  }
  return [...found.values()].sort((first, second) => first.time - second.time);
}
