import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { concernsLists, Refresher } from "./refresh";
import { type Source, Stream } from "./stream";

class FakeSource implements Source {
  readyState = 0;
  onopen: ((event: Event) => void) | null = null;
  onerror: ((event: Event) => void) | null = null;
  closed = false;
  readonly listeners = new Map<string, (event: MessageEvent<string>) => void>();
  addEventListener(kind: string, listener: (event: MessageEvent<string>) => void) {
    this.listeners.set(kind, listener);
  }
  close() {
    this.closed = true;
  }
  open() {
    this.readyState = 1;
    this.onopen?.(new Event("open"));
  }
  fail(readyState: number) {
    this.readyState = readyState;
    this.onerror?.(new Event("error"));
  }
  send(kind: string, data: unknown, lastEventId = "7") {
    const event = new MessageEvent(kind, { data: JSON.stringify(data), lastEventId });
    this.listeners.get(kind)?.(event);
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function started() {
  const sources: FakeSource[] = [];
  const stream = new Stream("/stream", ["log", "lifecycle"], () => {
    const source = new FakeSource();
    sources.push(source);
    return source;
  });
  const heard: unknown[] = [];
  let anew = 0;
  stream.listen(({ kind, data }) => heard.push([kind, data]));
  stream.whenMissed(() => {
    anew += 1;
  });
  stream.start();
  const source = () => sources.at(-1) as FakeSource;
  return { stream, sources, source, heard, anew: () => anew };
}

describe("a tab that nobody sees", () => {
  function watched(isHidden: boolean) {
    const sources: FakeSource[] = [];
    const listeners = new Set<() => void>();
    const sight = {
      hidden: isHidden,
      isHidden: () => sight.hidden,
      watch: (listener: () => void) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const stream = new Stream(
      "/stream",
      ["log"],
      () => {
        const source = new FakeSource();
        sources.push(source);
        return source;
      },
      sight,
    );
    let anew = 0;
    stream.whenMissed(() => {
      anew += 1;
    });
    stream.start();
    const turn = (hidden: boolean) => {
      sight.hidden = hidden;
      for (const listener of listeners) listener();
    };
    return { stream, sources, turn, listeners, anew: () => anew };
  }

  it("leaves its connection to others after a while, and begins anew when it is seen", () => {
    const { stream, sources, turn, anew } = watched(false);
    sources[0]?.open();
    turn(true);
    vi.advanceTimersByTime(10_000);
    turn(false);
    vi.advanceTimersByTime(60_000);
    expect([sources.length, sources[0]?.closed]).toEqual([1, false]);
    turn(true);
    vi.advanceTimersByTime(20_000);
    expect([sources[0]?.closed, stream.state]).toEqual([true, "connecting"]);
    turn(false);
    sources[1]?.open();
    expect([sources.length, stream.state, anew()]).toEqual([2, "live", 2]);
  });
  it("does not ask again for what has ended when it is seen", () => {
    const { stream, sources, turn } = watched(false);
    sources[0]?.open();
    sources[0]?.send("end", { code: "invalid_token" });
    turn(true);
    vi.advanceTimersByTime(60_000);
    turn(false);
    expect([sources.length, stream.state, stream.reason]).toEqual([1, "ended", ""]);
  });
  it("that was opened in the background takes none before it is seen", () => {
    const { stream, sources, turn, listeners } = watched(true);
    expect(sources).toEqual([]);
    turn(false);
    expect(sources.length).toBe(1);
    stream.stop();
    expect([sources[0]?.closed, listeners.size]).toEqual([true, 0]);
  });
});

describe("a live stream", () => {
  it("tells what arrives, and that what was loaded before may be old", () => {
    const { stream, source, heard, anew } = started();
    expect(stream.state).toBe("connecting");
    source().open();
    source().send("log", { line: "hi" });
    expect([stream.state, anew(), heard]).toEqual(["live", 1, [["log", { line: "hi" }]]]);
  });
  it("says that it is behind while the browser connects again, and misses nothing by it", () => {
    const { stream, source, sources, anew } = started();
    source().open();
    source().send("log", { line: "hi" });
    source().fail(0);
    expect(stream.state).toBe("behind");
    source().open();
    expect([stream.state, sources.length, anew()]).toEqual(["live", 1, 1]);
  });
  it("may have missed something when there was no event to resume after", () => {
    const { stream, source, anew } = started();
    source().open();
    source().fail(0);
    source().open();
    expect([stream.state, anew()]).toEqual(["live", 2]);
    source().send("log", { line: "hi" }, "");
    source().fail(0);
    source().open();
    expect(anew()).toBe(3);
  });
  it("begins anew when the browser gives up, ever more slowly", () => {
    const { stream, source, sources, anew } = started();
    let lost = 0;
    stream.whenLost(() => {
      lost += 1;
    });
    source().open();
    source().fail(2);
    expect([sources[0]?.closed, lost]).toEqual([true, 1]);
    vi.advanceTimersByTime(1_000);
    expect(sources.length).toBe(2);
    source().fail(2);
    vi.advanceTimersByTime(1_000);
    expect(sources.length).toBe(2);
    vi.advanceTimersByTime(1_000);
    expect(sources.length).toBe(3);
    source().open();
    expect([stream.state, anew()]).toEqual(["live", 2]);
  });
  it("stays ended when the server says so, and tells why", () => {
    const { stream, source, sources } = started();
    const lost: boolean[] = [];
    stream.whenLost((isOver) => lost.push(isOver));
    source().open();
    source().send("end", { code: "no_such_model", error: "There is no such model." }, "");
    expect([stream.state, stream.reason, lost]).toEqual([
      "ended",
      "There is no such model.",
      [true],
    ]);
    source().fail(0);
    vi.advanceTimersByTime(600_000);
    expect([sources.length, sources[0]?.closed, stream.state]).toEqual([1, true, "ended"]);
  });
  it("is over when it is stopped", () => {
    const { stream, source, sources } = started();
    source().fail(2);
    stream.stop();
    vi.advanceTimersByTime(60_000);
    expect(sources.length).toBe(1);
  });
});

describe("refreshing", () => {
  it("happens at once and then at most once in a while, with all that has gathered", () => {
    const told: string[][] = [];
    const refresher = new Refresher((topics) => told.push([...topics]), 1_000);
    refresher.ask("orders", "pnl");
    for (let count = 0; count < 500; count += 1) refresher.ask("orders");
    refresher.ask("facts");
    expect(told).toEqual([["orders", "pnl"]]);
    vi.advanceTimersByTime(1_000);
    expect(told.at(-1)).toEqual(["orders", "facts"]);
    vi.advanceTimersByTime(5_000);
    expect(told.length).toBe(2);
  });
  it("of lists is not asked for by every line that is printed", () => {
    expect(concernsLists(["log"])).toBe(false);
    expect(concernsLists(["log", "spot-market"])).toBe(true);
    expect(concernsLists([])).toBe(true);
  });
});
