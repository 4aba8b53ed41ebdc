/** The status of an order in words: an exchange may write partially_filled. */
import type { Order } from "~/api/types";

export function statusWords({ status, fill }: Pick<Order, "status" | "fill">): string {
  return status?.replaceAll("_", " ") ?? (fill?.assumed ? "assumed" : "");
}
