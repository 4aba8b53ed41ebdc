/** Orders as a table with virtual rows, loaded page by page. */
import { useQuery } from "@tanstack/react-query";
import { memo, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import * as ask from "~/api/queries";
import type { Order } from "~/api/types";
import { changeOf, latenessOf } from "~/features/changes/words";
import { price } from "~/format/numbers";
import { Refresher, topicsOf } from "~/live/refresh";
import { useModelStream } from "~/live/use-live";
import { Button } from "~/ui/button";
import { Side } from "~/ui/figures";
import { Empty, Failed, Skeleton } from "~/ui/panel";
import { type Measure, useMeasured, useMeasuredRows, useSteadyScroll } from "~/ui/tables/rows";
import { Time } from "~/ui/time";
import { OrderDetail } from "./order-detail";
import "./order-list.css";
import { OrderStore } from "./order-store";
import { Realized } from "./realized";
import { feeOf, kindOf, sizeOf, worthOf } from "./sizes";
import { statusWords } from "./status";

/** The height of an order on a wide screen; elsewhere it is stacked, and as high as its text. */
const ROW = 36;
const ASSUMED = { height: ROW, overscan: 12 };
/** Loading the next page starts this many rows before the end, because it takes time. */
const AHEAD = 60;
const HEADS = [
  "Time",
  "Side",
  "Kind",
  "Symbol",
  "Size",
  "Price",
  "Value",
  "Fee",
  "Realized",
  "Status",
  "Annotation",
];

/** The newest orders. */
export function NewestOrders({ model, most }: { model: string; most: number }) {
  const { data, error, refetch } = useQuery(ask.newestOrders(model, most));
  if (error) return <Failed error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton rows={4} />;
  return <Opened orders={data} filtered={false} short />;
}

/** All orders, however many. */
export function OrderList({ model, filter }: { model: string; filter: ask.OrderFilter }) {
  const stream = useModelStream();
  const store = useMemo(
    () => new OrderStore((wanted, asked) => ask.orders(model, { ...wanted, ...asked })),
    [model],
  );
  const shown = useSyncExternalStore(store.watch, () => store.shown);
  const seen = useRef({ from: 0, to: 0 });
  const { symbol, side } = filter;
  useEffect(() => void store.showNewest({ symbol, side }), [store, symbol, side]);
  useEffect(() => {
    const refresher = new Refresher(() => void store.refresh(seen.current.from, seen.current.to));
    const leave = [
      stream.listen(({ kind }) => {
        if (topicsOf(kind).includes("orders")) refresher.ask("orders");
      }),
      stream.whenMissed(() => refresher.ask("orders")),
    ];
    return () => {
      for (const one of leave) one();
      refresher.stop();
      store.stop();
    };
  }, [stream, store]);

  const failed = shown.failed ? (
    <Failed error={shown.failed} retry={() => void store.retry()} />
  ) : null;
  if (shown.orders.length === 0 && (failed || shown.loading))
    return failed ?? <Skeleton rows={4} />;
  return (
    <>
      {failed}
      {!shown.atNewest && (
        <div className="flex items-center justify-between gap-3 border-b border-line bg-sunken px-4 py-1.5 text-sm text-soft">
          There are newer orders.
          <Button onClick={() => void store.showNewest()}>Back to the newest</Button>
        </div>
      )}
      <Opened
        orders={shown.orders}
        filtered={Boolean(symbol || side)}
        store={store}
        onSeen={(from, to) => {
          seen.current = { from, to };
        }}
      />
    </>
  );
}

function Opened({
  orders,
  filtered,
  ...rest
}: {
  orders: readonly Order[];
  filtered: boolean;
  short?: boolean;
  store?: OrderStore;
  onSeen?: (from: number, to: number) => void;
}) {
  const [opened, setOpened] = useState<Order | null>(null);
  if (orders.length === 0) {
    return (
      <Empty title="No orders">
        {filtered
          ? "No orders match the filter."
          : "Orders appear here as soon as the model reports them."}
      </Empty>
    );
  }
  return (
    <>
      <Rows orders={orders} open={setOpened} {...rest} />
      <OrderDetail
        order={opened && (orders.find((one) => one.id === opened.id) ?? opened)}
        close={() => setOpened(null)}
      />
    </>
  );
}

function Rows({
  orders,
  open,
  short = false,
  store,
  onSeen,
}: {
  orders: readonly Order[];
  open: (order: Order) => void;
  short?: boolean;
  store?: OrderStore;
  onSeen?: (from: number, to: number) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const { list: rows, places } = useMeasuredRows(place, orders, idOf, ASSUMED);
  const isAtTop = () =>
    (store?.shown.atNewest ?? true) && (place.current?.scrollTop ?? 0) < ROW / 2;
  const noteScroll = useSteadyScroll(place, orders, places, () => (isAtTop() ? "start" : "row"));
  const items = rows.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => {
    onSeen?.(first, last);
    if (last >= orders.length - AHEAD) void store?.showOlder();
    else if (first < AHEAD) void store?.showNewer();
  }, [first, last, orders, onSeen, store]);
  const isAll = store ? store.shown.atNewest && !store.shown.hasOlder : true;
  return (
    <div
      ref={place}
      onScroll={noteScroll}
      tabIndex={0}
      role="region"
      aria-label="Orders"
      className="orders overflow-auto [overflow-anchor:none] focus-visible:-outline-offset-2"
      style={
        short ? { maxHeight: ROW * 9.5 } : { height: "calc(100dvh - 17rem)", minHeight: "18rem" }
      }
    >
      <div role="table" aria-label="Orders" aria-rowcount={isAll ? orders.length + 1 : -1}>
        <div role="rowgroup" className="sticky top-0 z-10 bg-surface">
          <div role="row" aria-rowindex={1} className="order heads text-xs font-medium text-soft">
            {HEADS.map((name) => (
              <span role="columnheader" key={name} className={`order-${name.toLowerCase()}`}>
                {name}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="relative" style={{ height: rows.getTotalSize() }}>
          {items.map(({ index, start, key }) => {
            const order = orders[index];
            return (
              order && (
                <Row
                  key={key}
                  order={order}
                  at={index}
                  top={start}
                  open={open}
                  measure={rows.measureElement}
                />
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Rendered again only when it changed or moved, so that scrolling stays fast. */
const Row = memo(function Row({
  order,
  at,
  top,
  open,
  measure,
}: {
  order: Order;
  at: number;
  top: number;
  open: (order: Order) => void;
  measure: Measure;
}) {
  const row = useMeasured(measure, at, order);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the button inside does the same for the keyboard
    <div
      ref={row}
      role="row"
      aria-rowindex={at + 2}
      data-index={at}
      tabIndex={-1}
      className="order absolute w-full cursor-pointer hover:bg-hover"
      style={{ top, minHeight: ROW }}
      onClick={() => open(order)}
    >
      <span role="cell" className="order-time">
        <button
          type="button"
          className="rounded-sm text-left hover:underline"
          aria-label={`Details of order ${order.id}`}
          onClick={() => open(order)}
        >
          <Time at={order.time} />
        </button>
        <Lateness order={order} />
      </span>
      <span role="cell" className="order-side">
        <Side side={order.side} />
      </span>
      <span role="cell" className="order-kind text-soft" title={kindNote(order)}>
        {kindOf(order)}
      </span>
      <span
        role="cell"
        dir="auto"
        className="order-symbol"
        title={`${order.symbol} on ${order.exchange}`}
      >
        {order.symbol}
      </span>
      <span role="cell" className="order-size num" title="filled / ordered">
        {sizeOf(order)}
      </span>
      <span role="cell" className="order-price num" title={priceNote(order)}>
        {price(order.fill?.price ?? order.price)}
        {order.fill?.estimated && <span className="text-warn">{"\u00a0~"}</span>}
      </span>
      <span role="cell" className="order-value num">
        {worthOf(order)}
      </span>
      <span role="cell" className="order-fee num" title={feeNote(order)}>
        {feeOf(order)}
      </span>
      <Realized fill={order.fill} />
      <span role="cell" className="order-status text-soft">
        {statusWords(order)}
      </span>
      <span
        role="cell"
        dir="auto"
        className="order-annotation text-soft"
        title={order.annotation ?? undefined}
      >
        {order.annotation}
      </span>
    </div>
  );
});

/** In the words of a shared page: the owner sees what a stranger sees. */
function Lateness({ order }: { order: Order }) {
  const words = latenessOf(order);
  if (!words) return null;
  return (
    <span className="order-late" title={order.changes.map(changeOf).join("; ") || undefined}>
      {words}
    </span>
  );
}

function idOf({ id }: Order): string {
  return id;
}

function kindNote({ active }: Order): string | undefined {
  return active === null ? undefined : "A stop order becomes active at this price";
}

function feeNote({ fill }: Order): string | undefined {
  return fill?.currency ? `in ${fill.currency}` : undefined;
}

function priceNote({ fill }: Order): string | undefined {
  if (fill?.estimated) return "Estimated: the last known price of the symbol";
  if (fill?.assumed) return "Assumed: the fill is not confirmed yet";
  return fill?.unpriced ? "Not counted: no price is known" : undefined;
}
