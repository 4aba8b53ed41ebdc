/** A file with numbered lines. Virtual rows: a million lines cost as much as a screenful. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useLayoutEffect, useMemo, useRef } from "react";
import { integer } from "~/format/numbers";
import {
  coloured,
  continued,
  type Language,
  languageOf,
  type Piece,
  type Quotes,
} from "./colouring";
import { linesOf } from "./line-diff";
import "./source.css";

/** The height of a line in pixels. */
const LINE = 20;
/** Characters of a line that are shown: a browser takes long for a line of megabytes. */
export const LONGEST = 2_000;

export function CodeView({
  path,
  text,
  line,
  choose,
}: {
  path: string;
  text: string;
  /** The number of the line that the address names. */
  line: number | null;
  choose: (line: number) => void;
}) {
  const language = languageOf(path);
  const lines = useMemo(() => linesOf(text).map((one) => one.replace(/\r$/, "")), [text]);
  const starts = useMemo(() => continued(lines, language), [lines, language]);
  const longest = useMemo(
    () => lines.reduce((most, one) => Math.max(most, Math.min(LONGEST, one.length)), 0),
    [lines],
  );
  const place = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => place.current,
    estimateSize: () => LINE,
    overscan: 20,
  });
  useLayoutEffect(() => {
    if (line !== null && line <= lines.length)
      rows.scrollToIndex(Math.max(0, line - 6), { align: "start" });
  }, [line, lines, rows]);
  const digits = String(lines.length).length;
  return (
    <div
      ref={place}
      tabIndex={0}
      role="region"
      dir="ltr"
      aria-label={`Source of ${path}`}
      className="source relative max-h-[calc(100dvh-15rem)] min-h-40 overflow-auto bg-sunken focus-visible:-outline-offset-2"
    >
      {lines.length === 0 && <p className="p-4 font-sans text-base text-soft">An empty file.</p>}
      <div
        className="relative min-w-full"
        style={{ height: rows.getTotalSize(), width: `calc(${longest + digits + 6}ch + 2rem)` }}
      >
        {rows.getVirtualItems().map(({ index, start }) => (
          <Row
            key={index}
            number={index + 1}
            digits={digits}
            top={start}
            text={lines[index] ?? ""}
            language={language}
            inside={starts[index] ?? ""}
            isChosen={line === index + 1}
            choose={choose}
          />
        ))}
      </div>
    </div>
  );
}

const Row = memo(function Row({
  number,
  digits,
  top,
  text,
  language,
  inside,
  isChosen,
  choose,
}: {
  number: number;
  digits: number;
  top: number;
  text: string;
  language: Language;
  inside: Quotes;
  isChosen: boolean;
  choose: (line: number) => void;
}) {
  return (
    <div
      className={`absolute top-0 left-0 flex w-full ${isChosen ? "bg-accent-ground" : ""}`}
      style={{ height: LINE, transform: `translateY(${top}px)` }}
    >
      <button
        type="button"
        tabIndex={-1}
        aria-label={`Link to line ${integer(number)}`}
        aria-current={isChosen ? "true" : undefined}
        onClick={() => choose(number)}
        className="num sticky left-0 z-1 shrink-0 bg-sunken pr-3 pl-3 text-right text-soft hover:text-accent"
        style={{ width: `calc(${digits}ch + 1.5rem)` }}
      >
        {number}
      </button>
      <code className="source-line">
        <Pieces pieces={coloured(text.slice(0, LONGEST), language, inside)} />
        <Rest of={text} />
      </code>
    </div>
  );
});

export function Pieces({ pieces }: { pieces: readonly Piece[] }) {
  return pieces.map(({ text, tone }, at) => (
    <span
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a line have only their position
      key={at}
      className={tone === "plain" ? undefined : `is-${tone}`}
      title={tone === "hidden" ? "A character that cannot be seen" : undefined}
    >
      {text}
    </span>
  ));
}

/** What is left of a line that is too long to show. */
export function Rest({ of: text }: { of: string }) {
  if (text.length <= LONGEST) return null;
  return (
    <span className="text-soft italic"> … {integer(text.length - LONGEST)} more characters</span>
  );
}
