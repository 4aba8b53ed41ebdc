/** The entries of a log. Virtual rows: a million lines cost as much as a screenful. */
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
import { type Span, terminalLines } from "~/format/terminal";
import { machine, precise, stamp, utc } from "~/format/times";
import { Icon } from "~/ui/icons";
import { type Measure, useMeasured, useMeasuredRows, useSteadyScroll } from "~/ui/tables/rows";
import { briefly, type Entry, entriesOf, hides, holds } from "./entries";
import type { LogStore } from "./log-store";

/** The height of a line in pixels; an entry is as high as its text. */
const LINE = 20;
const ASSUMED = { height: LINE, overscan: 20 };
/** Loading the next page starts this many lines before the end. */
const AHEAD = 60;
const TONES: Record<string, string> = {
  stderr: "text-bad",
  error: "text-bad",
  warning: "text-warn",
  warn: "text-warn",
};

/** The address of a line, and how to go there without loading the page again. */
export interface LineLink {
  to: (seq: number) => string;
  open: (seq: number) => void;
}

export function LogLines({
  store,
  brief,
  wraps,
  sought,
  filtered,
  link,
}: {
  store: LogStore;
  brief: boolean;
  wraps: boolean;
  /** The text that was searched for. */
  sought: string;
  filtered: boolean;
  link?: LineLink;
}) {
  const shown = useSyncExternalStore(store.watch, () => store.shown);
  const { follows, paused, loading, hasOlder, target, failed } = shown;
  const entries = useMemo(() => entriesOf(shown.lines), [shown.lines]);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const place = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const { list: rows, places } = useMeasuredRows(place, entries, seqOf, ASSUMED);
  const items = rows.getVirtualItems();
  const height = rows.getTotalSize();
  const isFollowing = () => follows && !paused && atEnd.current;
  const noteScroll = useSteadyScroll(place, entries, places, () => (isFollowing() ? "end" : "row"));
  // Entries turn out to be higher than was assumed once they are measured.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the height changed
  useLayoutEffect(() => {
    if (place.current && isFollowing()) place.current.scrollTop = place.current.scrollHeight;
  }, [height]);
  useLayoutEffect(() => {
    if (!target) return;
    const at = entriesOf(store.shown.lines).findIndex((entry) => holds(entry, target.seq));
    rows.scrollToIndex(Math.max(0, at - 3), { align: "start" });
  }, [store, target, rows]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other line breaks, other heights
  useLayoutEffect(() => rows.measure(), [wraps]);
  // Content that does not fill the box cannot be scrolled, but there may be older lines.
  useEffect(() => {
    const room = place.current?.clientHeight ?? 0;
    if (hasOlder && !loading && !failed && height < room) void store.showOlder();
  }, [store, height, hasOlder, loading, failed]);

  const toggle = useCallback(
    (seq: number) => setOpened((now) => new Set(now.has(seq) ? without(now, seq) : [...now, seq])),
    [],
  );

  function onScroll() {
    const box = place.current;
    if (!box) return;
    noteScroll();
    const below = box.scrollHeight - box.scrollTop - box.clientHeight;
    atEnd.current = below < LINE * 2;
    if (loading) return;
    if (box.scrollTop < LINE * AHEAD && hasOlder) void store.showOlder();
    else if (below < LINE * AHEAD && !follows) void store.showNewer();
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
      {entries.length === 0 && !loading && (
        <p className="p-4 font-sans text-base text-soft">
          {filtered
            ? "No matching lines."
            : "No output yet. Lines appear here as soon as the model prints them."}
        </p>
      )}
      <div style={{ height }} className={`relative min-w-full ${wraps ? "" : "w-max"}`}>
        {items.map(({ index, start, key }) => {
          const entry = entries[index];
          return (
            entry && (
              <Row
                key={key}
                entry={entry}
                at={index}
                top={start}
                wraps={wraps}
                isToggled={opened.has(entry.seq)}
                sought={sought}
                link={link}
                isMarked={target !== null && holds(entry, target.seq)}
                toggle={toggle}
                measure={rows.measureElement}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

/** Rendered again only when it changed or moved, so that scrolling stays fast. */
const Row = memo(function Row({
  entry,
  at,
  top,
  wraps,
  isToggled,
  sought,
  link,
  isMarked,
  toggle,
  measure,
}: {
  entry: Entry;
  at: number;
  top: number;
  wraps: boolean;
  /** Opened by hand, or closed where a search opened it. */
  isToggled: boolean;
  sought: string;
  link: LineLink | undefined;
  isMarked: boolean;
  toggle: (seq: number) => void;
  measure: Measure;
}) {
  const closed = useMemo(() => briefly(entry.text), [entry.text]);
  const isOpen = hides(entry.text, closed, sought) !== isToggled;
  const whole = useMemo(() => (isOpen ? terminalLines(entry.text) : []), [entry.text, isOpen]);
  const row = useMeasured(measure, at, closed, isOpen, wraps);
  const tone = TONES[entry.type];
  const breaks = wraps ? "whitespace-pre-wrap [overflow-wrap:anywhere]" : "whitespace-pre";
  return (
    <div
      ref={row}
      data-index={at}
      className={`absolute left-0 flex w-full gap-x-3 px-3 hover:bg-hover max-sm:flex-wrap ${isMarked ? "bg-accent-ground" : ""}`}
      style={{ top, lineHeight: `${LINE}px` }}
    >
      <time
        className="shrink-0 text-soft"
        title={`${stamp(entry.time)} here\n${utc(entry.time)}`}
        dateTime={machine(entry.time)}
      >
        {link ? (
          <a
            href={link.to(entry.seq)}
            className="hover:underline"
            onClick={(event) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              link.open(entry.seq);
            }}
          >
            {precise(entry.time)}
          </a>
        ) : (
          precise(entry.time)
        )}
      </time>
      <span className={`min-w-14 shrink-0 ${tone ?? "text-soft"}`}>{entry.type}</span>
      <div className={`min-w-0 flex-1 max-sm:basis-full ${tone ?? ""}`}>
        <div className={breaks}>
          {(isOpen ? whole : closed.lines).map((line, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
            <TextLine key={place} spans={line} />
          ))}
        </div>
        {closed.rest && (
          <button
            type="button"
            aria-expanded={isOpen}
            className="inline-flex items-center gap-1 text-soft hover:text-ink hover:underline"
            onClick={() => toggle(entry.seq)}
          >
            <Icon name={isOpen ? "down" : "right"} size={12} />
            {isOpen ? "Show less" : `Show all ${closed.rest}`}
          </button>
        )}
      </div>
    </div>
  );
});

function TextLine({ spans }: { spans: readonly Span[] }) {
  return (
    <div dir="auto" className="min-h-5">
      {spans.map(({ text, look }, place) =>
        look ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: spans have no other name
          <span key={place} className={look.replace(/\S+/g, "ansi-$&")}>
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </div>
  );
}

function seqOf({ seq }: Entry): number {
  return seq;
}

function without(all: ReadonlySet<number>, one: number): number[] {
  return [...all].filter((other) => other !== one);
}
