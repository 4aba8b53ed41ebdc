/**
 * A model's log as one reader sees it: a window of lines that follows the end, stays put while
 * paused, or shows another time. Lines come in pages and from the stream, and the two may overlap.
 */
import type { Line, Page } from "~/api/types";
import { shownText } from "~/format/terminal";

export interface LogQuery {
  type: string;
  q: string;
}

export interface Asked {
  limit: number;
  cursor?: string | null;
  after?: number | null;
  /** A time in seconds: lines before it, or with `after` from it on. */
  at?: number | null;
}

export type Fetch = (query: LogQuery, asked: Asked) => Promise<Page<Line>>;

export interface Shown {
  readonly lines: readonly Line[];
  /** Whether the window ends where the log does. */
  readonly follows: boolean;
  readonly paused: boolean;
  /** Lines that came while paused. */
  readonly waiting: number;
  readonly loading: boolean;
  readonly hasOlder: boolean;
  /** The line that was jumped to; `count` tells two jumps to the same line apart. */
  readonly target: { seq: number; turn: number } | null;
  readonly failed: unknown;
}

const PAGE = 500;
/** Lines shown above the line that was jumped to. */
const AROUND = 100;
/** Types of lines that say what went wrong. */
const ERRORS = ["stderr", "error"];
/** The most lines kept: more than anyone scrolls through, fewer than slow a browser down. */
export const MOST = 20_000;

export class LogStore {
  #shown: Shown = {
    lines: [],
    follows: true,
    paused: false,
    waiting: 0,
    loading: true,
    hasOlder: true,
    target: null,
    failed: null,
  };
  #query: LogQuery = { type: "", q: "" };
  #older: string | null = null;
  #held: Line[] = [];
  #turn = 0;
  #missed = false;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #fresh: Line[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(private readonly fetch: Fetch) {}

  get shown(): Shown {
    return this.#shown;
  }

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** Shows the newest lines and follows the log. */
  async showNewest(query: LogQuery = this.#query): Promise<void> {
    this.#query = query;
    this.#held = [];
    this.#missed = false;
    const turn = this.#begin();
    await this.#attempt(turn, async () => {
      const page = await this.#sought(turn, { limit: PAGE });
      if (!page) return;
      this.#older = page.next;
      const lines = merged(page.items.toReversed(), this.#fresh);
      this.#fresh = [];
      const hasOlder = page.next !== null;
      this.#set({ lines, follows: true, paused: false, waiting: 0, hasOlder, target: null });
    });
  }

  /** The stream was reopened, so lines may be missing. A reader who scrolled away is not disturbed. */
  anew(): void {
    if (this.#shown.paused) this.#missed = true;
    else if (this.#shown.follows) void this.showNewest();
  }

  async showOlder(): Promise<void> {
    if (this.#shown.loading || this.#older === null) return;
    const cursor = this.#older;
    const turn = this.#begin();
    await this.#attempt(turn, async () => {
      const page = await this.#sought(turn, { limit: PAGE, cursor });
      if (!page) return;
      this.#older = page.next;
      const lines = [...page.items.toReversed(), ...this.#shown.lines];
      // A reader far back does not see the end; it is fetched again on the way down.
      const isLong = lines.length > MOST;
      this.#set({
        lines: isLong ? lines.slice(0, MOST) : lines,
        follows: this.#shown.follows && !isLong,
        hasOlder: page.next !== null,
      });
    });
  }

  async showNewer(): Promise<void> {
    const last = this.#shown.lines.at(-1);
    if (this.#shown.loading || this.#shown.follows || !last) return;
    const turn = this.#begin();
    await this.#attempt(turn, async () => {
      const page = await this.#sought(turn, { limit: PAGE, after: last.seq });
      if (!page) return;
      const lines = [...this.#shown.lines, ...page.items];
      const kept = lines.slice(-MOST);
      if (kept.length < lines.length) this.#older = String(kept[0]?.seq);
      const hasOlder = this.#older !== null;
      this.#set({ lines: kept, follows: page.next === null, hasOlder });
    });
  }

  /** The lines around a time, which the server finds. */
  showTime(seconds: number): Promise<void> {
    return this.#showAround({ at: seconds }, { at: seconds, after: 0 });
  }

  /** The lines around one of them. */
  showLine(seq: number, query: LogQuery = this.#query): Promise<void> {
    this.#query = query;
    return this.#showAround({ cursor: String(seq) }, { after: seq - 1 });
  }

  /**
   * The next error after a line, or the one before it; without a line, the last one. Null if there
   * is none. What is shown stays as it is.
   */
  async errorFrom(way: "before" | "after", from: number | null): Promise<number | null> {
    const place =
      from === null ? {} : way === "before" ? { cursor: String(from) } : { after: from };
    const turn = this.#turn;
    const pages = await Promise.all(
      ERRORS.map((type) => this.#sought(turn, { limit: 1, ...place }, { type, q: "" })),
    );
    const seqs = pages.flatMap((page) => page?.items ?? []).map(({ seq }) => seq);
    if (seqs.length === 0) return null;
    return way === "before" ? Math.max(...seqs) : Math.min(...seqs);
  }

  async #showAround(earlier: Partial<Asked>, later: Partial<Asked>): Promise<void> {
    const turn = this.#begin();
    await this.#attempt(turn, async () => {
      const [before, after] = await Promise.all([
        this.#sought(turn, { limit: AROUND, ...earlier }),
        this.#sought(turn, { limit: PAGE, ...later }),
      ]);
      if (!before || !after) return;
      this.#older = before.next;
      const target = after.items[0] ?? before.items[0];
      this.#set({
        lines: [...before.items.toReversed(), ...after.items],
        follows: after.next === null,
        hasOlder: before.next !== null,
        waiting: 0,
        target: target ? { seq: target.seq, turn } : null,
      });
    });
  }

  pause(): void {
    this.#set({ paused: true });
  }

  resume(): void {
    if (this.#missed) {
      void this.showNewest();
      return;
    }
    const lines = [...this.#shown.lines, ...this.#held].slice(-MOST);
    this.#held = [];
    this.#set({ lines, paused: false, waiting: 0 });
  }

  /** A line from the stream. Many within one frame are shown at once. */
  push(line: Line): void {
    if (!wanted(line, this.#query)) return;
    this.#fresh.push(line);
    this.#timer ??= setTimeout(() => this.#flush(), 50);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#turn += 1;
  }

  #flush(): void {
    this.#timer = null;
    // Lines from the stream wait for the first page, so that none is shown twice.
    if (this.#shown.loading && this.#shown.lines.length === 0) return;
    const fresh = this.#fresh;
    this.#fresh = [];
    if (!this.#shown.follows) return;
    if (this.#shown.paused) {
      this.#held = [...this.#held, ...fresh].slice(-MOST);
      this.#set({ waiting: this.#held.length });
    } else {
      this.#set({ lines: merged(this.#shown.lines, fresh) });
    }
  }

  /** Skips empty pages: a search may find nothing in a long stretch of the log. */
  async #sought(
    turn: number,
    asked: Asked,
    query: LogQuery = this.#query,
  ): Promise<Page<Line> | null> {
    let page = await this.fetch(query, asked);
    while (turn === this.#turn && page.items.length === 0 && page.next !== null) {
      page = await this.fetch(query, { ...asked, cursor: page.next });
    }
    return turn === this.#turn ? page : null;
  }

  #begin(): number {
    this.#turn += 1;
    this.#set({ loading: true, failed: null });
    return this.#turn;
  }

  async #attempt(turn: number, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (failed) {
      if (turn === this.#turn) this.#set({ failed });
    } finally {
      if (turn === this.#turn) {
        this.#set({ loading: false });
        if (this.#fresh.length > 0) this.#flush();
      }
    }
  }

  #set(change: Partial<Shown>): void {
    this.#shown = { ...this.#shown, ...change };
    for (const watcher of this.#watchers) watcher();
  }
}

export function wanted(line: Line, { type, q }: LogQuery): boolean {
  return (!type || line.type === type) && (!q || shownText(line.line).includes(q));
}

/** Joins two sorted lists of lines; the second may repeat the end of the first. */
export function merged(first: readonly Line[], second: readonly Line[]): Line[] {
  let last = first.at(-1)?.seq ?? -1;
  const added = second.filter((line) => {
    const isNew = line.seq > last;
    if (isNew) last = line.seq;
    return isNew;
  });
  const together = added.length ? [...first, ...added] : [...first];
  return together.length > MOST ? together.slice(-MOST) : together;
}
