/** A log that follows its end. Virtual rows: a million lines cost as much as a screenful. */
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { api, unwrap, withoutEmpty } from "~/api/client";
import type { Line } from "~/api/types";
import { integer } from "~/format/numbers";
import { fromLocal, machine, precise, stamp, utc } from "~/format/times";
import { useModelStream } from "~/live/use-live";
import { Button, IconButton } from "~/ui/button";
import { Icon } from "~/ui/icons";
import { Failed } from "~/ui/panel";
import { slotted, useSteadyScroll } from "~/ui/steady-scroll";
import { type Asked, type LogQuery, LogStore } from "./log-store";

const ROW = 20;
/** Loading the next page starts this many rows before the end. */
const AHEAD = 60;
const TONES: Record<string, string> = {
  stderr: "text-bad",
  error: "text-bad",
  warning: "text-warn",
  warn: "text-warn",
};

export function LogView({
  model,
  backtest,
  brief = false,
}: {
  model: string;
  /** Shows this backtest's lines instead of the live ones. */
  backtest?: string;
  brief?: boolean;
}) {
  const stream = useModelStream();
  const store = useMemo(
    () => new LogStore((query, asked) => linesOf(model, backtest, query, asked)),
    [model, backtest],
  );
  const shown = useSyncExternalStore(store.watch, () => store.shown);
  const [type, setType] = useState("");
  const [typed, setTyped] = useState("");

  useEffect(() => {
    const leave = [
      stream.listen(({ kind, data }) => {
        const line = data as Line & { backtest_id?: string };
        if (backtest ? kind === "backtest-log" && line.backtest_id === backtest : kind === "log")
          store.push(line);
      }),
      stream.whenMissed(() => store.anew()),
    ];
    return () => {
      for (const one of leave) one();
      store.stop();
    };
  }, [stream, store, backtest]);
  useEffect(() => {
    const timer = setTimeout(() => void store.showNewest({ type, q: typed }), typed ? 250 : 0);
    return () => clearTimeout(timer);
  }, [store, type, typed]);

  return (
    <div className="grid">
      <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
        <input
          type="search"
          aria-label="Search the log"
          placeholder="Search"
          className="field w-auto min-w-32 flex-1 sm:max-w-56"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <select
          aria-label="Type of line"
          className="field w-auto"
          value={type}
          onChange={(event) => setType(event.target.value)}
        >
          <option value="">All types</option>
          <option>stdout</option>
          <option>stderr</option>
          <option>system</option>
          <option>info</option>
          <option>warning</option>
          <option>error</option>
        </select>
        {!brief && <JumpToTime store={store} />}
        <span className="ml-auto flex items-center gap-1">
          <State store={store} searching={Boolean(type || typed)} />
          <Download address={fileOf(model, backtest, { type, q: typed })} />
        </span>
      </div>
      {shown.failed ? <Failed error={shown.failed} retry={() => void store.showNewest()} /> : null}
      <Lines store={store} brief={brief} filtered={Boolean(type || typed)} />
    </div>
  );
}

function linesOf(model: string, backtest: string | undefined, query: LogQuery, asked: Asked) {
  const wanted = withoutEmpty({ ...query, ...asked });
  return unwrap(
    backtest
      ? api.GET("/api/models/{model}/backtests/{backtest}/logs", {
          params: { path: { model, backtest }, query: wanted },
        })
      : api.GET("/api/models/{model}/logs", { params: { path: { model }, query: wanted } }),
  );
}

/** The server writes the file, because a log may have millions of lines. */
function fileOf(model: string, backtest: string | undefined, query: LogQuery): string {
  const of = backtest ? `/backtests/${encodeURIComponent(backtest)}` : "";
  const search = new URLSearchParams(withoutEmpty(query) as Record<string, string>).toString();
  return `/api/models/${model}${of}/logs.txt${search ? `?${search}` : ""}`;
}

function State({ store, searching }: { store: LogStore; searching: boolean }) {
  const { paused, follows, waiting, loading } = useSyncExternalStore(
    store.watch,
    () => store.shown,
  );
  const told =
    loading && searching
      ? "Searching…"
      : paused
        ? waiting
          ? `${integer(waiting)} new`
          : "Paused"
        : "";
  if (!follows) {
    return (
      <>
        <span role="status" className="text-sm text-soft">
          {told}
        </span>
        <Button weight="main" onClick={() => void store.showNewest()}>
          Back to live
        </Button>
      </>
    );
  }
  return (
    <>
      <span role="status" className="num text-sm text-soft">
        {told}
      </span>
      <IconButton
        label={paused ? "Follow the log" : "Pause the log"}
        icon={paused ? "play" : "pause"}
        aria-pressed={paused}
        onClick={() => (paused ? store.resume() : store.pause())}
      />
    </>
  );
}

function Lines({ store, brief, filtered }: { store: LogStore; brief: boolean; filtered: boolean }) {
  const shown = useSyncExternalStore(store.watch, () => store.shown);
  const { lines, follows, paused, loading, hasOlder, target, failed } = shown;
  const place = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  // A stable function: a new one would make the list measure every line again.
  const keyOf = useCallback((at: number) => lines[at]?.seq ?? at, [lines]);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW,
    overscan: 20,
    getItemKey: keyOf,
  });

  const items = rows.getVirtualItems();
  const slot = slotted(items.length);
  const noteScroll = useSteadyScroll(place, lines, ROW, () =>
    follows && !paused && atEnd.current ? "end" : "row",
  );
  useLayoutEffect(() => {
    if (!target || !place.current) return;
    const at = store.shown.lines.findIndex(({ seq }) => seq === target.seq);
    place.current.scrollTop = (at - 3) * ROW;
  }, [store, target]);
  // Content that does not fill the box cannot be scrolled, but there may be older lines.
  useEffect(() => {
    const room = place.current?.clientHeight ?? 0;
    if (hasOlder && !loading && !failed && lines.length * ROW < room) void store.showOlder();
  }, [store, lines, hasOlder, loading, failed]);

  function onScroll() {
    const box = place.current;
    if (!box) return;
    noteScroll();
    atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < ROW * 2;
    if (loading) return;
    const below = box.scrollHeight - box.scrollTop - box.clientHeight;
    if (box.scrollTop < ROW * AHEAD && hasOlder) void store.showOlder();
    else if (below < ROW * AHEAD && !follows) void store.showNewer();
  }

  return (
    <div
      ref={place}
      onScroll={onScroll}
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label="Log"
      className={`overflow-auto bg-sunken font-mono text-xs [overflow-anchor:none] focus-visible:-outline-offset-2 ${brief ? "h-64" : "h-[calc(100dvh-17rem)] min-h-72"}`}
    >
      {lines.length === 0 && !loading && (
        <p className="p-4 font-sans text-base text-soft">
          {filtered
            ? "No matching lines."
            : "No output yet. Lines appear here as soon as the model prints them."}
        </p>
      )}
      <div style={{ height: rows.getTotalSize() }} className="relative w-max min-w-full">
        {items.map(({ index, start }) => {
          const line = lines[index];
          return (
            line && (
              <Row key={slot(index)} line={line} top={start} marked={line.seq === target?.seq} />
            )
          );
        })}
      </div>
    </div>
  );
}

/** Rendered again only when it changed or moved, so that scrolling stays fast. */
const Row = memo(function Row({ line, top, marked }: { line: Line; top: number; marked: boolean }) {
  const tone = TONES[line.type];
  return (
    <div
      className={`absolute left-0 flex w-full [contain:layout_style] gap-3 px-3 whitespace-pre hover:bg-hover ${marked ? "bg-accent-ground" : ""}`}
      style={{ top, height: ROW, lineHeight: `${ROW}px` }}
    >
      <time
        className="text-soft"
        title={`${stamp(line.time)} here\n${utc(line.time)}`}
        dateTime={machine(line.time)}
      >
        {precise(line.time)}
      </time>
      <span className={`w-12 ${tone ?? "text-soft"}`}>{line.type}</span>
      <span className={tone ?? ""}>{line.line}</span>
    </div>
  );
});

function JumpToTime({ store }: { store: LogStore }) {
  return (
    <label className="flex items-center gap-2 text-sm text-soft">
      Jump to
      <input
        type="datetime-local"
        step="1"
        className="field w-auto"
        onChange={(event) => {
          const moment = fromLocal(event.target.value);
          if (moment !== null) void store.showTime(moment);
        }}
      />
    </label>
  );
}

function Download({ address }: { address: string }) {
  return (
    <a
      href={address}
      download=""
      aria-label="Download the log"
      title="Download the log"
      className="inline-flex size-8 shrink-0 items-center justify-center rounded-md text-soft transition-colors hover:bg-hover hover:text-ink"
    >
      <Icon name="download" />
    </a>
  );
}
