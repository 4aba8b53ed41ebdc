/** The details of one order, with every update. */
import { Link, useParams } from "@tanstack/react-router";
import type { Order } from "~/api/types";
import { afterOf, changeOf } from "~/features/changes/words";
import { money, price, quantity } from "~/format/numbers";
import { Dialog } from "~/ui/dialogs/dialog";
import { Gain, Side } from "~/ui/figures";
import { Fact, Notice } from "~/ui/panel";
import { Time } from "~/ui/time";
import { statusWords } from "./status";

const KNOWN = new Set([
  "id",
  "type",
  "symbol",
  "exchange",
  "side",
  "size",
  "funds",
  "price",
  "active",
  "annotation",
  "status",
  "time",
  "received_at",
  "seq",
  "fill",
  "late_by",
  "changes",
]);

export function notComputed(reason: string): string {
  return `Its symbol is not computed, so this order counts in no figure: ${reason}`;
}

export function OrderDetail({ order, close }: { order: Order | null; close: () => void }) {
  const { project = "", model = "" } = useParams({ strict: false });
  if (!order) return null;
  const { fill } = order;
  const others = Object.entries(order).filter(
    ([name, value]) => !KNOWN.has(name) && value !== null,
  );
  return (
    <Dialog open onOpenChange={(open) => !open && close()} title={`Order ${order.id}`} wide>
      <div className="grid gap-4">
        {order.changes.map((one) => (
          <Notice key={one.seq} tone="warn">
            After the fact, <Time at={one.received_at} />: {changeOf(one)}, {afterOf(one)}.
          </Notice>
        ))}
        {fill?.not_computed && <Notice tone="warn">{notComputed(fill.not_computed)}</Notice>}
        {fill?.unpriced && (
          <Notice tone="warn">
            This order has no known price, so it is not counted. Send its executionPrice with
            update-trade.
          </Notice>
        )}
        {fill?.oversold ? (
          <Notice tone="warn">
            {quantity(fill.oversold)} of this order was sold without being held, so it is not
            counted.
          </Notice>
        ) : null}
        {order.symbol && (
          <Link
            to="/$project/$model/prices"
            params={{ project, model }}
            search={{ symbol: order.symbol, at: order.fill?.time ?? order.time }}
            className="link justify-self-start text-sm"
            onClick={close}
          >
            Show it in the price chart
          </Link>
        )}
        {order.annotation && (
          <p className="rounded-md bg-sunken px-3 py-2 [overflow-wrap:anywhere]">
            {order.annotation}
          </p>
        )}
        <dl className="grid grid-cols-2 gap-x-4 gap-y-3 sm:grid-cols-3">
          <Fact name="Side">
            <Side side={order.side} />
          </Fact>
          <Fact name="Symbol" hint={order.symbol}>
            {order.symbol}
          </Fact>
          <Fact name="Exchange" hint={order.exchange}>
            {order.exchange}
          </Fact>
          <Fact name="Type">{order.type}</Fact>
          <Fact name="Ordered size">{quantity(order.size)}</Fact>
          {order.funds !== null && <Fact name="Funds">{money(order.funds, fill?.currency)}</Fact>}
          <Fact name="Limit price">{price(order.price)}</Fact>
          {order.active !== null && <Fact name="Stop price">{price(order.active)}</Fact>}
          <Fact name="Status">{statusWords(order) || "–"}</Fact>
          <Fact name="Time">
            <Time at={order.time} as="stamp" />
          </Fact>
          <Fact name="Reported">
            <Time at={order.received_at} as="stamp" />
          </Fact>
        </dl>
        {fill && (
          <section>
            <h3 className="mb-2">Fill</h3>
            <dl className="grid grid-cols-2 gap-x-4 gap-y-3 sm:grid-cols-3">
              <Fact name="Price">
                {price(fill.price)}{" "}
                {fill.estimated ? "(estimated)" : fill.assumed ? "(assumed)" : ""}
              </Fact>
              <Fact name="Filled size">{quantity(fill.size)}</Fact>
              <Fact name="Fee">{money(fill.fee, fill.currency)}</Fact>
              <Fact name="Realized">
                <Gain value={fill.realized} currency={fill.currency} />
              </Fact>
            </dl>
          </section>
        )}
        {others.length > 0 && (
          <section>
            <h3 className="mb-2">Also said</h3>
            <pre className="overflow-x-auto rounded-md bg-sunken p-3 font-mono text-xs">
              {JSON.stringify(Object.fromEntries(others), null, 2)}
            </pre>
          </section>
        )}
      </div>
    </Dialog>
  );
}
