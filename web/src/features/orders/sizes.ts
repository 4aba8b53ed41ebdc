/** What an order's cells say: its size, its kind and its value. */
import type { Order } from "~/api/types";
import { amount, price, quantity } from "~/format/numbers";

/** What was filled, and what was ordered where that is more or less. */
export function sizeOf({ size, fill }: Pick<Order, "size" | "fill">): string {
  if (size === null) return quantity(fill?.size);
  const filled = fill ? fill.size : 0;
  return filled === size ? quantity(size) : `${quantity(filled)} / ${quantity(size)}`;
}

/** `spot-stop` as "stop at 95", with the price that activates it. */
export function kindOf({ type, active }: Pick<Order, "type" | "active">): string {
  const kind = type.replace(/^spot-/, "");
  return active === null ? kind : `${kind} at ${price(active)}`;
}

/** Of what was filled: its price times its size, for contracts times their multiplier. */
export function worthOf(order: Filled): string {
  return amount(filledValue(order), order.fill?.currency);
}

export function feeOf({ fill }: Filled): string {
  return amount(fill?.fee, fill?.currency);
}

type Filled = Pick<Order, "fill"> & { multiplier?: unknown };

/** Null if it is unknown. */
function filledValue(order: Filled): number | null {
  const { fill } = order;
  if (!fill || fill.price === null || fill.size === null) return null;
  const multiplier = order.multiplier === undefined ? 1 : Number(order.multiplier);
  const value = fill.price * fill.size * multiplier;
  return Number.isFinite(value) ? value : null;
}
