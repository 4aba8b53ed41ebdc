/** The size of an order: what was filled, and what was ordered where that is more or less. */
import type { Order } from "~/api/types";
import { quantity } from "~/format/numbers";

export function sizeOf({ size, fill }: Pick<Order, "size" | "fill">): string {
  if (size === null) return quantity(fill?.size);
  const filled = fill ? fill.size : 0;
  return filled === size ? quantity(size) : `${quantity(filled)} / ${quantity(size)}`;
}
