/** Orders as a table with virtual rows: it grows by pages of the server, not by all there is. */
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Order } from "~/api/pending";
import * as ask from "~/api/queries";
import { price, quantity } from "~/format/numbers";
import { Button } from "~/ui/button";
import { Gain, Side } from "~/ui/figures";
import { Empty, Failed, Skeleton } from "~/ui/panel";
import { Time } from "~/ui/time";
import { OrderDetail } from "./order-detail";

const ROW = 36;
/** A phone shows when, what, how much and at what price; the rest is one tap away. */
const COLUMNS =
  "grid-cols-[7.75rem_1rem_minmax(0,1fr)_auto] md:grid-cols-[9.5rem_3.75rem_minmax(4.5rem,1fr)_minmax(6rem,1fr)_minmax(5rem,1fr)_minmax(5rem,1fr)_5.25rem_minmax(4.5rem,2fr)]";
const WIDE = "hidden md:block";
const HEADS: [string, string][] = [
  ["Time", ""],
  ["Side", "max-md:invisible"],
  ["Symbol", ""],
  ["Size", `text-right ${WIDE}`],
  ["Price", "text-right"],
  ["Realized", `text-right ${WIDE}`],
  ["Status", `pl-3 ${WIDE}`],
  ["Annotation", WIDE],
];

export function OrderList({
  model,
  filter,
  most,
}: {
  model: string;
  filter: ask.OrderFilter;
  most?: number;
}) {
  const found = useInfiniteQuery({ ...ask.orders(model, filter), placeholderData: (old) => old });
  const queries = useQueryClient();
  const [opened, setOpened] = useState<Order | null>(null);
  const all = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const orders = most ? all.slice(0, most) : all;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (found.isPending) return <Skeleton rows={4} />;
  if (orders.length === 0) {
    return (
      <Empty title="No orders">
        {filter.symbol || filter.side
          ? "None is like that."
          : "They appear here the moment the model reports them."}
      </Empty>
    );
  }
  const isLong = !most && (found.data?.pages.length ?? 0) > 3;
  return (
    <>
      {isLong && (
        <div className="flex items-center justify-between gap-3 border-b border-line bg-sunken px-4 py-1.5 text-sm text-soft">
          This far back, new orders are not shown by themselves.
          <Button
            onClick={() =>
              void queries.resetQueries({ queryKey: ask.orders(model, filter).queryKey })
            }
          >
            Back to the newest
          </Button>
        </div>
      )}
      <Rows
        orders={orders}
        open={setOpened}
        short={most !== undefined}
        more={() => {
          if (!most && found.hasNextPage && !found.isFetchingNextPage) void found.fetchNextPage();
        }}
      />
      <OrderDetail
        order={opened && (all.find((one) => one.id === opened.id) ?? opened)}
        close={() => setOpened(null)}
      />
    </>
  );
}

function Rows({
  orders,
  open,
  more,
  short,
}: {
  orders: Order[];
  open: (order: Order) => void;
  more: () => void;
  short: boolean;
}) {
  const place = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: orders.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW,
    overscan: 12,
    getItemKey: (at) => orders[at]?.id ?? at,
  });
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= orders.length - 20) more();
  }, [last, orders.length, more]);
  return (
    <div
      ref={place}
      tabIndex={0}
      role="region"
      aria-label="Orders"
      className="overflow-auto focus-visible:-outline-offset-2"
      style={
        short ? { maxHeight: ROW * 9.5 } : { height: "calc(100dvh - 17rem)", minHeight: "18rem" }
      }
    >
      <div
        role="table"
        aria-label="Orders"
        aria-rowcount={orders.length + 1}
        className="md:min-w-[48rem]"
      >
        <div role="rowgroup" className="sticky top-0 z-10 bg-surface">
          <div
            role="row"
            aria-rowindex={1}
            className={`grid ${COLUMNS} items-center gap-x-2 border-b border-line px-4 py-2 text-xs font-medium text-soft`}
          >
            {HEADS.map(([name, looks]) => (
              <span role="columnheader" key={name} className={looks}>
                {name}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="relative" style={{ height: rows.getTotalSize() }}>
          {items.map(({ index, start, key }) => {
            const order = orders[index];
            return order && <Row key={key} order={order} at={index} top={start} open={open} />;
          })}
        </div>
      </div>
    </div>
  );
}

function Row({
  order,
  at,
  top,
  open,
}: {
  order: Order;
  at: number;
  top: number;
  open: (order: Order) => void;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the button in it does the same for the keyboard
    <div
      role="row"
      aria-rowindex={at + 2}
      tabIndex={-1}
      className={`absolute grid w-full ${COLUMNS} cursor-pointer items-center gap-x-2 border-b border-line px-4 hover:bg-hover`}
      style={{ top, height: ROW }}
      onClick={() => open(order)}
    >
      <span role="cell">
        <button
          type="button"
          className="rounded-sm text-left hover:underline"
          aria-label={`Details of order ${order.id}`}
          onClick={() => open(order)}
        >
          <Time at={order.time} />
        </button>
      </span>
      <span role="cell">
        <Side side={order.side} brief />
      </span>
      <span role="cell" className="truncate" title={order.exchange}>
        {order.symbol}
      </span>
      <span role="cell" className={`num text-right whitespace-nowrap ${WIDE}`}>
        {order.size !== null
          ? quantity(order.size)
          : order.fill?.size
            ? quantity(order.fill.size)
            : "–"}
      </span>
      <span role="cell" className="num text-right" title={priceNote(order)}>
        {price(order.fill?.price ?? order.price)}
        {order.fill?.estimated && <span className="text-warn"> ~</span>}
      </span>
      <span role="cell" className={`text-right ${WIDE}`}>
        {order.fill?.realized ? (
          <Gain value={order.fill.realized} />
        ) : (
          <span className="text-soft">–</span>
        )}
      </span>
      <span role="cell" className={`truncate pl-3 text-soft ${WIDE}`}>
        {order.status ?? (order.fill?.assumed ? "assumed" : "")}
      </span>
      <span
        role="cell"
        className={`truncate text-soft ${WIDE}`}
        title={order.annotation ?? undefined}
      >
        {order.annotation}
      </span>
    </div>
  );
}

function priceNote({ fill }: Order): string | undefined {
  if (fill?.estimated) return "Estimated: the last known price of the symbol";
  if (fill?.assumed) return "Assumed: nobody said yet that it was filled";
  return fill?.unpriced ? "No price is known: it counts nowhere" : undefined;
}
