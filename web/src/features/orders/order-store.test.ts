import { describe, expect, it } from "vitest";
import type { Order } from "~/api/types";
import { type Asked, MOST, OrderStore } from "./order-store";

const order = (seq: number, status: string | null = null): Order => ({
  id: `o${seq}`,
  type: "spot-market",
  symbol: seq % 1_000 === 0 ? "RARE" : "BTC-USD",
  exchange: "x",
  side: "buy",
  size: 1,
  funds: null,
  price: null,
  active: null,
  annotation: null,
  status,
  time: seq,
  received_at: seq,
  seq,
  fill: null,
  late_by: null,
  changes: [],
});

/** A server with so many orders, which looks at a few hundred for a filter and goes on. */
function serving(count: number, patience = 300) {
  const all = Array.from({ length: count }, (_, at) => order(at + 1));
  const asked: Asked[] = [];
  const fetch = async ({ symbol }: { symbol: string }, ask: Asked) => {
    asked.push(ask);
    const isWanted = (one: Order) => !symbol || one.symbol === symbol;
    const isTail = ask.after != null;
    const edge = ask.cursor == null ? null : Number(ask.cursor);
    const ahead = isTail
      ? all.filter(({ seq }) => seq > Math.max(ask.after ?? 0, edge ?? 0))
      : all.filter(({ seq }) => edge === null || seq < edge).toReversed();
    const looked = symbol ? ahead.slice(0, patience) : ahead;
    const items = looked.filter(isWanted).slice(0, ask.limit);
    const end = looked.length < ahead.length ? looked.at(-1) : undefined;
    const next = items.length === ask.limit ? items.at(-1) : end;
    return { items, next: next ? String(next.seq) : null };
  };
  return { fetch, asked, all };
}

const seqs = (store: OrderStore) => store.shown.orders.map(({ seq }) => seq);

describe("orders", () => {
  it("are read back page by page, and forgotten at the other end", async () => {
    const store = new OrderStore(serving(20_000).fetch);
    await store.showNewest();
    expect([seqs(store)[0], seqs(store).length]).toEqual([20_000, 200]);
    for (let page = 0; page < 50; page += 1) await store.showOlder();
    expect(seqs(store).at(-1)).toBe(20_000 - 51 * 200 + 1);
    expect(seqs(store).length).toBeLessThanOrEqual(MOST);
    expect(store.shown.atNewest).toBe(false);
    for (let page = 0; page < 60; page += 1) await store.showNewer();
    expect([seqs(store)[0], store.shown.atNewest]).toEqual([20_000, true]);
    expect(seqs(store).length).toBeLessThanOrEqual(MOST);
    const before = seqs(store).at(-1) ?? 0;
    await store.showOlder();
    expect(seqs(store).at(-1)).toBe(before - 200);
  });
  it("of a rare kind are searched for until there are some", async () => {
    const { fetch, asked } = serving(3_500);
    const store = new OrderStore(fetch);
    await store.showNewest({ symbol: "RARE", side: "" });
    expect(seqs(store)).toEqual([3_000]);
    expect(asked.length).toBe(2);
    await store.showOlder();
    await store.showOlder();
    expect([seqs(store), store.shown.hasOlder]).toEqual([[3_000, 2_000, 1_000], true]);
    await store.showOlder();
    expect([seqs(store).length, store.shown.hasOlder]).toEqual([3, false]);
  });
  it("that are new come on top, and those in sight are told anew", async () => {
    const server = serving(1_000);
    const store = new OrderStore(server.fetch);
    await store.showNewest();
    await store.showOlder();
    await store.showOlder();
    server.all.push(order(1_001));
    server.all[649] = order(650, "filled");
    await store.refresh(340, 360);
    expect(seqs(store).slice(0, 2)).toEqual([1_001, 1_000]);
    expect(store.shown.orders.find(({ seq }) => seq === 650)?.status).toBe("filled");
    for (let more = 0; more < 500; more += 1) server.all.push(order(1_002 + more));
    await store.refresh(0, 20);
    expect([seqs(store)[0], seqs(store).length]).toEqual([1_501, 200]);
  });
  it("appear in an empty list", async () => {
    const server = serving(0);
    const store = new OrderStore(server.fetch);
    await store.showNewest();
    expect([seqs(store).length, store.shown.loading]).toEqual([0, false]);
    server.all.push(order(1));
    await store.refresh(0, 0);
    expect(seqs(store)).toEqual([1]);
  });
});
