/** A log that follows itself: virtual rows, so a million lines cost as much as a screenful. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { type Line, look, type Page } from "~/api/pending";
import { words } from "~/api/problem";
import { integer } from "~/format/numbers";
import { fromLocal, precise, stamp, utc } from "~/format/times";
import { useModelStream } from "~/live/use-live";
import { Button, IconButton } from "~/ui/button";
import { Failed } from "~/ui/panel";
import { say } from "~/ui/toasts";
import { downloadLog } from "./download";
import { LogStore } from "./log-store";

const ROW = 20;
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
  /** Its lines instead of the live ones. */
  backtest?: string;
  brief?: boolean;
}) {
  const stream = useModelStream();
  const address = `/api/models/${model}/${backtest ? `backtests/${encodeURIComponent(backtest)}/` : ""}logs`;
  const store = useMemo(
    () => new LogStore((query, asked) => look<Page<Line>>(address, { ...query, ...asked })),
    [address],
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
      stream.whenAnew(() => void store.showNewest()),
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
          className="field w-full sm:w-56"
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
          <State store={store} />
          {!brief && <Download model={model} query={{ type, q: typed }} />}
        </span>
      </div>
      {shown.failed ? <Failed error={shown.failed} retry={() => void store.showNewest()} /> : null}
      <Lines store={store} brief={brief} filtered={Boolean(type || typed)} />
    </div>
  );
}

function State({ store }: { store: LogStore }) {
  const { paused, follows, waiting } = useSyncExternalStore(store.watch, () => store.shown);
  if (!follows) {
    return (
      <Button weight="main" onClick={() => void store.showNewest()}>
        Back to live
      </Button>
    );
  }
  return (
    <>
      <span role="status" className="num text-sm text-soft">
        {paused ? (waiting ? `${integer(waiting)} waiting` : "Paused") : ""}
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
  const { lines, follows, paused, loading, hasOlder } = shown;
  const place = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW,
    overscan: 20,
    getItemKey: (at) => lines[at]?.seq ?? at,
  });

  // What is read must not move: older lines above push by exactly their height.
  const first = lines[0]?.seq;
  const before = useRef({ first, count: lines.length });
  useEffect(() => {
    const old = before.current;
    before.current = { first, count: lines.length };
    const box = place.current;
    if (!box || !first) return;
    if (follows && !paused && atEnd.current) {
      box.scrollTop = box.scrollHeight;
    } else if (old.first !== undefined && first < old.first) {
      box.scrollTop += lines.findIndex((line) => line.seq === old.first) * ROW;
    }
  }, [first, lines, follows, paused]);

  function onScroll() {
    const box = place.current;
    if (!box) return;
    atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < ROW * 2;
    if (box.scrollTop < ROW * 30 && hasOlder && !loading) void store.showOlder();
    if (atEnd.current && !follows && !loading) void store.showNewer();
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
            ? "No line is like that."
            : "Nothing was printed yet. Lines appear here the moment they are."}
        </p>
      )}
      <div style={{ height: rows.getTotalSize() }} className="relative w-max min-w-full">
        {rows.getVirtualItems().map(({ index, start, key }) => {
          const line = lines[index];
          return (
            line && (
              <div
                key={key}
                className="absolute left-0 flex w-full gap-3 px-3 whitespace-pre hover:bg-hover"
                style={{ top: start, height: ROW, lineHeight: `${ROW}px` }}
              >
                <time
                  className="text-soft"
                  title={`${stamp(line.time)} here\n${utc(line.time)}`}
                  dateTime={new Date(line.time * 1000).toISOString()}
                >
                  {precise(line.time)}
                </time>
                <span className={`w-12 ${TONES[line.type] ?? "text-soft"}`}>{line.type}</span>
                <span className={TONES[line.type] ?? ""}>{line.line}</span>
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

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

function Download({ model, query }: { model: string; query: { type: string; q: string } }) {
  const [busy, setBusy] = useState(false);
  async function download() {
    setBusy(true);
    try {
      await downloadLog(model, query);
    } catch (error) {
      say({ tone: "bad", text: words(error) });
    } finally {
      setBusy(false);
    }
  }
  return (
    <IconButton
      label="Download the log"
      icon="download"
      disabled={busy}
      onClick={() => void download()}
    />
  );
}
