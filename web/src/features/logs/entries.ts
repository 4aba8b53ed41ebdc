/**
 * Lines of a log as entries: a traceback is one entry, whether it came as one event or as one event
 * a line. `src/tapeline/sharing/pages/log_entries.py` does the same for shared pages.
 */
import type { Line } from "~/api/types";
import { plural } from "~/format/numbers";
import { plainText, type Span, shownText, terminalLines } from "~/format/terminal";

export interface Entry {
  /** Of its first line. */
  readonly seq: number;
  /** Of its last line. */
  readonly until: number;
  readonly time: number;
  readonly type: string;
  readonly text: string;
}

/** What is shown of an entry that is closed. */
export interface Brief {
  lines: Span[][];
  /** Names what opening it adds, such as "12 lines"; empty if it is all there. */
  rest: string;
}

const TRACEBACK = "Traceback (most recent call last):";
const CHAINED =
  /^(During handling of the above exception|The above exception was the direct cause)/;
/** A closed entry shows at most this much. */
const LINES = 5;
const CHARACTERS = 1_000;

export function entriesOf(lines: readonly Line[]): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = isStart(lines[at]) ? endOfTraceback(lines, at) : at + 1;
    entries.push(together(lines.slice(at, end)));
    at = end;
  }
  return entries;
}

/** The last line of a traceback says what went wrong; of anything else the beginning is shown. */
export function briefly(text: string): Brief {
  const lines = terminalLines(text);
  const count = plural(lines.length, "line");
  if (lines.length > 1 && text.includes(TRACEBACK)) {
    const last = lines.findLast((line) => plainText(line).trim()) ?? [];
    return { lines: clipped([last]), rest: count };
  }
  const shown = clipped(lines.length > LINES ? lines.slice(0, LINES - 1) : lines);
  if (lines.length > LINES) return { lines: shown, rest: count };
  const [all, some] = [lengthOf(lines), lengthOf(shown)];
  return { lines: shown, rest: all > some ? plural(all, "character") : "" };
}

export function holds({ seq, until }: Entry, wanted: number): boolean {
  return seq <= wanted && wanted <= until;
}

/** Whether a search found this entry by text that it hides while it is closed. */
export function hides(text: string, closed: Brief, sought: string): boolean {
  return (
    sought !== "" &&
    closed.rest !== "" &&
    shownText(text).includes(sought) &&
    !closed.lines.some((line) => plainText(line).includes(sought))
  );
}

function isStart(line: Line | undefined): boolean {
  return line?.line.startsWith(TRACEBACK) ?? false;
}

/** Frames are indented; the first line that is not is the exception. Another may follow from it. */
function endOfTraceback(lines: readonly Line[], start: number): number {
  const { type = "" } = lines[start] ?? {};
  const textAt = (at: number) => (lines[at]?.type === type ? lines[at]?.line : undefined);
  let at = start + 1;
  if (lines[start]?.line.includes("\n")) return at;
  while (/^\s+\S/.test(textAt(at) ?? "")) at += 1;
  // Of a filtered log, the exception may be missing.
  if (textAt(at) !== undefined && !isStart(lines[at])) at += 1;
  if (textAt(at) === "" && CHAINED.test(textAt(at + 1) ?? "")) {
    const next = textAt(at + 2) === "" ? at + 3 : at + 2;
    return textAt(next)?.startsWith(TRACEBACK) ? endOfTraceback(lines, next) : next;
  }
  return at;
}

function together(lines: readonly Line[]): Entry {
  const [first, last] = [lines[0] as Line, lines.at(-1) as Line];
  const text = lines.map(({ line }) => line).join("\n");
  return { seq: first.seq, until: last.seq, time: first.time, type: first.type, text };
}

function clipped(lines: readonly Span[][]): Span[][] {
  let room = CHARACTERS;
  return lines.map((line) => {
    const kept: Span[] = [];
    for (const span of line) {
      if (room > 0) kept.push({ ...span, text: span.text.slice(0, room) });
      room -= span.text.length;
    }
    return kept;
  });
}

function lengthOf(lines: readonly Span[][]): number {
  return lines.reduce((sum, line) => sum + plainText(line).length, 0);
}
