/**
 * A model's orders as one reader scrolls through them: a window of rows, newest first, that grows at
 * one end and is cut at the other. A million orders cost as much as a few.
 */
import type { OrderFilter } from "~/api/queries";
import type { Order, Page } from "~/api/types";

export interface Asked {
  limit: number;
  cursor?: string | null;
  after?: number | null;
}

export type Fetch = (filter: OrderFilter, asked: Asked) => Promise<Page<Order>>;

export interface Shown {
  readonly orders: readonly Order[];
  /** Whether the window begins with the newest. */
  readonly atNewest: boolean;
  readonly hasOlder: boolean;
  readonly loading: boolean;
  readonly failed: unknown;
}

const PAGE = 200;
/** The most rows kept, and how many are left after a cut, so that not every page causes one. */
export const MOST = 6_000;
const CUT = 4_000;

export class OrderStore {
  #shown: Shown = { orders: [], atNewest: true, hasOlder: true, loading: true, failed: null };
  #filter: OrderFilter = { symbol: "", side: "" };
  #older: string | null = null;
  #turn = 0;
  #last: (turn: number) => Promise<void> = async () => {};
  readonly #watchers = new Set<() => void>();

  constructor(private readonly fetch: Fetch) {}

  get shown(): Shown {
    return this.#shown;
  }

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  async showNewest(filter: OrderFilter = this.#filter): Promise<void> {
    this.#filter = filter;
    await this.#load(async (turn) => {
      const page = await this.#sought(turn, { limit: PAGE });
      if (!page) return;
      this.#older = page.next;
      this.#set({ orders: page.items, atNewest: true, hasOlder: page.next !== null });
    });
  }

  async showOlder(): Promise<void> {
    if (this.#shown.loading || this.#shown.failed || this.#older === null) return;
    const cursor = this.#older;
    await this.#load(async (turn) => {
      const page = await this.#sought(turn, { limit: PAGE, cursor });
      if (!page) return;
      this.#older = page.next;
      const orders = [...this.#shown.orders, ...page.items];
      const isLong = orders.length > MOST;
      this.#set({
        orders: isLong ? orders.slice(-CUT) : orders,
        atNewest: this.#shown.atNewest && !isLong,
        hasOlder: page.next !== null,
      });
    });
  }

  async showNewer(): Promise<void> {
    const first = this.#shown.orders[0];
    if (this.#shown.loading || this.#shown.failed || this.#shown.atNewest || !first) return;
    await this.#load(async (turn) => {
      const page = await this.#sought(turn, { limit: PAGE, after: first.seq });
      if (!page) return;
      const orders = [...page.items.toReversed(), ...this.#shown.orders];
      const isLong = orders.length > MOST;
      const kept = isLong ? orders.slice(0, CUT) : orders;
      if (isLong) this.#older = String(kept.at(-1)?.seq);
      this.#set({
        orders: kept,
        atNewest: page.next === null,
        hasOlder: this.#shown.hasOlder || isLong,
      });
    });
  }

  /** After an order event: fetches the orders in view again, and new ones. */
  async refresh(from: number, to: number): Promise<void> {
    const { orders, loading, atNewest } = this.#shown;
    if (loading) return;
    const turn = this.#turn;
    const [first, top] = [orders[from], orders[0]];
    const newest = atNewest ? this.fetch(this.#filter, { limit: PAGE }) : null;
    const seen =
      first && from >= PAGE / 2
        ? this.fetch(this.#filter, {
            limit: Math.min(PAGE, Math.max(1, to - from + 1)),
            cursor: String(first.seq + 1),
          })
        : null;
    try {
      const [news, again] = await Promise.all([newest, seen]);
      if (turn !== this.#turn) return;
      const isBeyond = top && news?.next != null && news.items.every(({ seq }) => seq > top.seq);
      if (news && (isBeyond || !top)) {
        this.#older = news.next;
        this.#set({ orders: news.items, hasOlder: news.next !== null, failed: null });
        return;
      }
      const said = [...(news?.items ?? []), ...(again?.items ?? [])];
      this.#set({ orders: merged(this.#shown.orders, said), failed: null });
    } catch (failed) {
      this.#last = () => this.showNewest();
      if (turn === this.#turn) this.#set({ failed });
    }
  }

  /** Repeats the request that failed. */
  retry(): Promise<void> {
    return this.#load(this.#last);
  }

  stop(): void {
    this.#turn += 1;
  }

  /** Skips empty pages: a filter may match nothing in a long stretch of orders. */
  async #sought(turn: number, asked: Asked): Promise<Page<Order> | null> {
    let page = await this.fetch(this.#filter, asked);
    while (turn === this.#turn && page.items.length === 0 && page.next !== null) {
      page = await this.fetch(this.#filter, { ...asked, cursor: page.next });
    }
    return turn === this.#turn ? page : null;
  }

  async #load(act: (turn: number) => Promise<void>): Promise<void> {
    this.#turn += 1;
    this.#last = act;
    const turn = this.#turn;
    this.#set({ loading: true, failed: null });
    try {
      await act(turn);
    } catch (failed) {
      if (turn === this.#turn) this.#set({ failed });
    } finally {
      if (turn === this.#turn) this.#set({ loading: false });
    }
  }

  #set(change: Partial<Shown>): void {
    this.#shown = { ...this.#shown, ...change };
    for (const watcher of this.#watchers) watcher();
  }
}

/** Rows with their latest updates; newer rows are added on top. */
export function merged(orders: readonly Order[], said: readonly Order[]): readonly Order[] {
  if (said.length === 0) return orders;
  const latest = new Map(said.map((order) => [order.id, order]));
  const top = orders[0]?.seq ?? -1;
  const fresh = said.filter(({ seq }) => seq > top).sort((one, other) => other.seq - one.seq);
  return [...fresh, ...orders.map((order) => latest.get(order.id) ?? order)];
}
