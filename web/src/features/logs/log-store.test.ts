import { describe, expect, it, vi } from "vitest";
import type { Line } from "~/api/types";
import { type Asked, type LogQuery, LogStore, merged } from "./log-store";

const line = (seq: number, type = "stdout"): Line => ({
  seq,
  type,
  line: `line ${seq}`,
  time: seq,
  received_at: seq,
});

/** A server with so many lines, which answers as ours does. */
function serving(count: number) {
  const all = Array.from({ length: count }, (_, at) =>
    line(at + 1, at % 10 === 0 ? "stderr" : "stdout"),
  );
  const asked: Asked[] = [];
  const fetch = async (query: LogQuery, ask: Asked) => {
    asked.push(ask);
    const isWanted = (one: Line) =>
      (!query.type || one.type === query.type) && (!query.q || one.line.includes(query.q));
    // Here a line's number is also the second in which it arrived.
    const reached = ask.at == null ? null : Math.ceil(ask.at);
    if (ask.after != null) {
      const after = Math.max(ask.after, Number(ask.cursor ?? 0), (reached ?? 1) - 1);
      const looked = all.slice(after, after + (query.q ? PATIENCE : all.length));
      const items = looked.filter(isWanted).slice(0, ask.limit);
      const end = items.length === ask.limit ? items.at(-1) : looked.at(-1);
      const isAll = items.length < ask.limit && (end?.seq ?? count) >= count;
      return { items, next: isAll ? null : String(end?.seq) };
    }
    const before = Math.min(
      ask.cursor == null ? count + 1 : Number(ask.cursor),
      reached ?? count + 1,
    );
    const looked = all.slice(query.q ? Math.max(0, before - 1 - PATIENCE) : 0, before - 1);
    const items = looked.filter(isWanted).slice(-ask.limit).toReversed();
    const end = items.length === ask.limit ? items.at(-1) : looked[0];
    const isAll = items.length < ask.limit && (end?.seq ?? 1) <= 1;
    return { items, next: isAll ? null : String(end?.seq) };
  };
  return { fetch, asked, all };
}

/** Lines that the server looks at for a search before it answers. */
const PATIENCE = 400;

const settle = () => new Promise((resolve) => setTimeout(resolve, 80));
const seqs = (store: LogStore) => store.shown.lines.map(({ seq }) => seq);

describe("a line of a log", () => {
  it("is shown among its neighbours and marked", async () => {
    const store = new LogStore(serving(5_000).fetch);
    await store.showLine(1_234);
    expect([seqs(store)[0], seqs(store)[100]]).toEqual([1_134, 1_234]);
    expect([store.shown.target?.seq, store.shown.follows]).toEqual([1_234, false]);
  });
  it("is found by the error that it is, before or after another", async () => {
    const store = new LogStore(serving(100).fetch);
    expect(await store.errorFrom("before", null)).toBe(91);
    expect(await store.errorFrom("before", 91)).toBe(81);
    expect(await store.errorFrom("after", 81)).toBe(91);
    expect(await store.errorFrom("after", 91)).toBeNull();
  });
});

describe("a log", () => {
  it("shows the newest lines, oldest first, and what comes", async () => {
    const store = new LogStore(serving(1_200).fetch);
    await store.showNewest();
    expect([seqs(store)[0], seqs(store).at(-1), store.shown.hasOlder]).toEqual([701, 1_200, true]);
    store.push(line(1_201));
    store.push(line(1_201));
    store.push(line(1_200));
    await settle();
    expect(seqs(store).slice(-2)).toEqual([1_200, 1_201]);
  });
  it("goes back page by page", async () => {
    const store = new LogStore(serving(1_200).fetch);
    await store.showNewest();
    await store.showOlder();
    await store.showOlder();
    expect([seqs(store)[0], seqs(store).length, store.shown.hasOlder]).toEqual([1, 1_200, false]);
  });
  it("stands still while paused and counts what waits", async () => {
    const store = new LogStore(serving(10).fetch);
    await store.showNewest();
    store.pause();
    store.push(line(11));
    store.push(line(12));
    await settle();
    expect([seqs(store).at(-1), store.shown.waiting]).toEqual([10, 2]);
    store.resume();
    expect([seqs(store).at(-1), store.shown.waiting]).toEqual([12, 0]);
  });
  it("keeps to what is searched for, live lines too", async () => {
    const store = new LogStore(serving(100).fetch);
    await store.showNewest({ type: "stderr", q: "" });
    expect(seqs(store)).toEqual([1, 11, 21, 31, 41, 51, 61, 71, 81, 91]);
    store.push(line(101, "stdout"));
    store.push(line(102, "stderr"));
    await settle();
    expect(seqs(store).at(-1)).toBe(102);
  });
  it("finds live lines by the text that is shown", async () => {
    const store = new LogStore(serving(100).fetch);
    await store.showNewest({ type: "", q: "297 bold" });
    const coloured = "\u001b[31mline 297\u001b[0m \u001b[1;4mbold\u001b[0m word";
    store.push({ ...line(101), line: coloured });
    store.push({ ...line(102), line: "297 bold\r298 thin" });
    await settle();
    expect(seqs(store)).toEqual([101]);
  });
  it("finds a moment in a long log with two questions, and the way back to the end", async () => {
    const { fetch, asked } = serving(100_000);
    const store = new LogStore(fetch);
    await store.showNewest();
    const before = asked.length;
    await store.showTime(54_320.5);
    expect(asked.length - before).toBe(2);
    expect(store.shown.target?.seq).toBe(54_321);
    expect(seqs(store).indexOf(54_321)).toBe(100);
    expect(store.shown.follows).toBe(false);
    store.push(line(100_001));
    await settle();
    expect(seqs(store)).not.toContain(100_001);
    await store.showNewer();
    expect(seqs(store).at(-1)).toBe(54_321 - 1 + 1_000);
    await store.showNewest();
    expect(store.shown.follows).toBe(true);
  });
  it("goes on searching where the server has found nothing yet", async () => {
    const { fetch, asked } = serving(5_000);
    const store = new LogStore(fetch);
    await store.showNewest({ type: "", q: "line 77" });
    expect(seqs(store).at(-1)).toBe(779);
    expect(asked.length).toBeGreaterThan(5);
    while (store.shown.hasOlder) await store.showOlder();
    expect(seqs(store)).toEqual([77, ...Array.from({ length: 10 }, (_, at) => 770 + at)]);
    await store.showTime(2_000);
    expect([seqs(store).length, store.shown.follows]).toEqual([10, true]);
  });
  it("leaves who reads elsewhere in peace when the stream begins anew", async () => {
    const { fetch, asked } = serving(10_000);
    const store = new LogStore(fetch);
    await store.showNewest();
    store.pause();
    store.anew();
    const before = asked.length;
    expect(store.shown.paused).toBe(true);
    store.resume();
    await settle();
    expect([asked.length, store.shown.paused]).toEqual([before + 1, false]);
    await store.showTime(5_000);
    const seen = seqs(store);
    store.anew();
    await settle();
    expect(seqs(store)).toEqual(seen);
  });
  it("says when the server cannot be reached, and recovers", async () => {
    const { fetch } = serving(3);
    const failing = vi.fn(fetch).mockRejectedValueOnce(new TypeError("no network"));
    const store = new LogStore(failing);
    await store.showNewest();
    expect(store.shown.failed).toBeInstanceOf(TypeError);
    await store.showNewest();
    expect([store.shown.failed, seqs(store).length]).toEqual([null, 3]);
  });
  it("shows nothing twice that comes while the first page is on its way", async () => {
    const { fetch } = serving(5);
    const store = new LogStore(async (query, ask) => {
      await settle();
      return fetch(query, ask);
    });
    const first = store.showNewest();
    store.push(line(5));
    store.push(line(6));
    await first;
    expect(seqs(store)).toEqual([1, 2, 3, 4, 5, 6]);
  });
  it("forgets its oldest lines before a browser minds", () => {
    const many = Array.from({ length: 20_000 }, (_, at) => line(at));
    expect(merged(many, [line(20_000)]).length).toBe(20_000);
    expect(merged(many, [line(20_000)])[0]?.seq).toBe(1);
  });
});
