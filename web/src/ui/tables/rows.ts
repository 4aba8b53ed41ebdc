/** Virtual rows: as high as their text, and in place while rows above are added or removed. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useLayoutEffect, useRef } from "react";

interface Numbered {
  seq: number;
}

/** Where rows are; their heights may differ. */
export interface Places {
  /** The row at a distance from the top. */
  at: (top: number) => number;
  /** The distance of a row from the top. */
  start: (at: number) => number;
}

/** By how many rows the row at `place` moved because rows above it were added or removed. */
export function shifted(
  before: readonly Numbered[],
  after: readonly Numbered[],
  place: number,
): number {
  // The row in view may be gone; then the next one that is still there counts.
  for (let at = Math.max(0, place); at < before.length; at += 1) {
    const seq = before[at]?.seq;
    const now = after.findIndex((row) => row.seq === seq);
    if (now >= 0) return now - at;
    if (at > place + 50) break;
  }
  return 0;
}

/**
 * Rows that are added or removed above leave the row in view where it is. `stay` says what to keep
 * in view instead: the end of a followed log, or the start of a list.
 */
export function useSteadyScroll(
  box: RefObject<HTMLElement | null>,
  rows: readonly Numbered[],
  places: Places,
  stay: () => "start" | "end" | "row",
): () => void {
  const before = useRef(rows);
  const held = useRef({ at: 0, inside: 0 });
  useLayoutEffect(() => {
    const old = before.current;
    before.current = rows;
    const element = box.current;
    if (!element || old === rows) return;
    const kept = stay();
    if (kept === "end") element.scrollTop = element.scrollHeight;
    if (kept !== "row") return;
    // The browser may have scrolled already, if there is less to scroll than before.
    const { at, inside } = held.current;
    const shift = shifted(old, rows, at);
    if (shift) element.scrollTop = places.start(at + shift) + inside;
  });
  return () => {
    const top = box.current?.scrollTop ?? 0;
    const at = places.at(top);
    held.current = { at, inside: top - places.start(at) };
  };
}

export type Measure = (element: HTMLElement | null) => void;

export function useMeasuredRows<Row>(
  box: RefObject<HTMLElement | null>,
  rows: readonly Row[],
  nameOf: (row: Row) => string | number,
  assumed: { height: number; overscan: number },
) {
  // A stable function: a new one would make the list measure every row again.
  const getItemKey = useCallback(
    (at: number) => {
      const row = rows[at];
      return row === undefined ? at : nameOf(row);
    },
    [rows, nameOf],
  );
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => assumed.height,
    overscan: assumed.overscan,
    getItemKey,
  });
  const places: Places = {
    at: (top) => list.getVirtualItemForOffset(top)?.index ?? 0,
    start: (at) => list.measurementsCache[at]?.start ?? at * assumed.height,
  };
  return { list, places };
}

/** Measures a row whenever what it shows changed; the list watches it for other changes. */
export function useMeasured(
  measure: Measure,
  ...shown: unknown[]
): RefObject<HTMLDivElement | null> {
  const row = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => measure(row.current), [measure, ...shown]);
  return row;
}
