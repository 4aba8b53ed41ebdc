/** The figures above the curve: the server's own, in the currency of the curve. Nothing is added up
 * here, because only the server knows everything that belongs to a sum. */
import type { Pnl } from "~/api/types";

export interface Sum {
  name: string;
  value: number;
  /** A gain or a loss; an amount otherwise. */
  isGain: boolean;
}

export interface Sums {
  currency: string | null;
  /** The first is the main one. */
  items: Sum[];
}

export function sumsOf(pnl: Pnl): Sums {
  const currency = pnl.series_currency ?? pnl.currency;
  const money = currency === null ? undefined : pnl.by_currency[currency];
  const reported = pnl.source === "model" ? (pnl.series.at(-1)?.value ?? null) : null;
  const items: Sum[] = [];
  if (reported !== null) items.push(gain("Reported by the model", reported));
  if (money) {
    items.push(
      gain(reported === null ? "Total" : "Computed total", money.total),
      gain("Realized", money.realized),
      gain("Unrealized", money.unrealized),
      ...Object.entries(money.cash).map(([kind, amount]) => gain(cashName(kind), amount)),
      { name: "Fees", value: money.fees, isGain: false },
    );
  }
  return { currency, items };
}

function gain(name: string, value: number): Sum {
  return { name, value, isGain: true };
}

/** Fees of orders are part of `realized`; a fee that was reported as cash is not. */
function cashName(kind: string): string {
  return kind === "fee" ? "Other fees" : kind.charAt(0).toUpperCase() + kind.slice(1);
}
