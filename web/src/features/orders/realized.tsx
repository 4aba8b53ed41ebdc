/** The result of an order. Zero is a result; a dash says that there is none, and why. */
import type { Order } from "~/api/types";
import { Gain } from "~/ui/figures";
import { notComputed } from "./order-detail";

export function Realized({ fill }: Pick<Order, "fill">) {
  const isKnown = fill && fill.realized !== null && !fill.not_computed;
  return (
    <span
      role="cell"
      className="order-realized"
      title={fill?.not_computed ? notComputed(fill.not_computed) : undefined}
    >
      {isKnown ? (
        <Gain value={fill.realized} currency={fill.currency} />
      ) : (
        <span className="text-soft">–</span>
      )}
    </span>
  );
}
