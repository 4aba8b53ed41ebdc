/** A log with its search, filter and download; it follows its end. */
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { api, unwrap, withoutEmpty } from "~/api/client";
import type { Line } from "~/api/types";
import { integer } from "~/format/numbers";
import { fromLocal } from "~/format/times";
import { withZone } from "~/format/zone";
import { useModelStream } from "~/live/use-live";
import { Button, IconButton } from "~/ui/button";
import { Icon } from "~/ui/icons";
import { Failed } from "~/ui/panel";
import { Select } from "~/ui/select";
import { entriesOf, holds } from "./entries";
import { type LineLink, LogLines } from "./log-lines";
import { type Asked, type LogQuery, LogStore } from "./log-store";

export type LogAddress = { q?: string; type?: string; line?: string };

const WRAPPING = "tapeline.log.wrap";
const TYPES = ["stdout", "stderr", "system", "debug", "info", "warning", "error"];

export function LogView({
  model,
  backtest,
  brief = false,
  view,
  change,
}: {
  model: string;
  /** Shows this backtest's lines instead of the live ones. */
  backtest?: string;
  brief?: boolean;
  /** What the address says; a log within another page keeps its search to itself. */
  view?: LogAddress;
  change?: (change: LogAddress, how?: "step" | "typed") => void;
}) {
  const stream = useModelStream();
  const store = useMemo(
    () => new LogStore((query, asked) => linesOf(model, backtest, query, asked)),
    [model, backtest],
  );
  const shown = useSyncExternalStore(store.watch, () => store.shown);
  const [own, setOwn] = useState<LogAddress>({});
  const { type = "", q: typed = "", line = "" } = view ?? own;
  const set = change ?? ((wanted: LogAddress) => setOwn((now) => ({ ...now, ...wanted })));
  const [wraps, setWraps] = useWrapping();
  const link = useMemo<LineLink>(
    () => ({
      to: (seq) => `?line=${seq}`,
      open: (seq) => change?.({ q: "", type: "", line: String(seq) }),
    }),
    [change],
  );

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
    const query = { type, q: typed };
    const seq = Number(line);
    const show = () => (seq > 0 ? void store.showLine(seq, query) : void store.showNewest(query));
    const timer = setTimeout(show, typed ? 250 : 0);
    return () => clearTimeout(timer);
  }, [store, type, typed, line]);

  return (
    <div className="grid">
      <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
        <input
          type="search"
          aria-label="Search the log"
          placeholder="Search"
          className="field w-auto min-w-32 flex-1 sm:max-w-56"
          value={typed}
          onChange={(event) => set({ q: event.target.value, line: "" }, "typed")}
        />
        <Select
          aria-label="Type of line"
          className="w-auto"
          value={type}
          onChange={(event) => set({ type: event.target.value, line: "" })}
        >
          <option value="">All types</option>
          {TYPES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Select>
        {!brief && <JumpToTime store={store} />}
        {!brief && (
          <Errors store={store} found={(seq) => set({ q: "", type: "", line: String(seq) })} />
        )}
        <label className="flex items-center gap-1.5 text-sm text-soft">
          <input
            type="checkbox"
            checked={wraps}
            onChange={(event) => setWraps(event.target.checked)}
          />
          Wrap
        </label>
        <span className="ml-auto flex items-center gap-1">
          <State
            store={store}
            searching={Boolean(type || typed)}
            live={() => {
              if (line) set({ line: "" });
              else void store.showNewest();
            }}
          />
          <Download address={fileOf(model, backtest, { type, q: typed })} />
        </span>
      </div>
      {shown.failed ? <Failed error={shown.failed} retry={() => void store.showNewest()} /> : null}
      <LogLines
        store={store}
        brief={brief}
        wraps={wraps}
        sought={typed}
        filtered={Boolean(type || typed)}
        {...(change ? { link } : {})}
      />
    </div>
  );
}

/** Kept in this browser: a reader who wants tables in columns wants them tomorrow too. */
function useWrapping(): [boolean, (wraps: boolean) => void] {
  const [wraps, setWraps] = useState(keptWrapping);
  return [
    wraps,
    (chosen) => {
      setWraps(chosen);
      try {
        localStorage.setItem(WRAPPING, chosen ? "on" : "off");
      } catch {
        // Without storage, the choice lasts until the page is closed.
      }
    },
  ];
}

function keptWrapping(): boolean {
  try {
    return localStorage.getItem(WRAPPING) !== "off";
  } catch {
    return true;
  }
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
  return withZone(`/api/models/${model}${of}/logs.txt${search ? `?${search}` : ""}`);
}

function Errors({ store, found }: { store: LogStore; found: (seq: number) => void }) {
  const { target, lines } = useSyncExternalStore(store.watch, () => store.shown);
  const [none, setNone] = useState("");
  async function go(way: "before" | "after") {
    const here = target && entriesOf(lines).find((one) => holds(one, target.seq));
    const from = here ? (way === "before" ? here.seq : here.until) : null;
    const seq = await store.errorFrom(way, from);
    setNone(seq === null ? (from === null ? "No errors" : `No error ${way}`) : "");
    if (seq !== null) found(seq);
  }
  return (
    <span className="flex items-center gap-1 text-sm text-soft">
      <Button onClick={() => void go("before")}>{target ? "Error before" : "Last error"}</Button>
      {target && <Button onClick={() => void go("after")}>Next error</Button>}
      <span role="status">{none}</span>
    </span>
  );
}

function State({
  store,
  searching,
  live,
}: {
  store: LogStore;
  searching: boolean;
  live: () => void;
}) {
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
        <Button weight="main" onClick={live}>
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

function JumpToTime({ store }: { store: LogStore }) {
  return (
    <label className="flex items-center gap-2 text-sm text-soft">
      Jump to
      <input
        type="datetime-local"
        step="1"
        className="w-auto"
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
