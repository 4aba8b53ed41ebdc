/** Keeps the rows in view in place while rows above them are added or removed. */
import { type RefObject, useLayoutEffect, useRef } from "react";

interface Numbered {
  seq: number;
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
 * A React key for a visible row that another row reuses once this one is out of view: changing the
 * text of an element is cheaper than replacing the element.
 */
export function slotted(count: number): (index: number) => number {
  const slots = 2 ** Math.ceil(Math.log2(Math.max(64, count)));
  return (index) => index % slots;
}

/**
 * Rows that are added or removed above shift the scroll position by exactly their height. `stay`
 * says what to keep in view instead: the end of a followed log, or the start of a list.
 */
export function useSteadyScroll(
  box: RefObject<HTMLElement | null>,
  rows: readonly Numbered[],
  height: number,
  stay: () => "start" | "end" | "row",
): () => void {
  const before = useRef(rows);
  const top = useRef(0);
  useLayoutEffect(() => {
    const old = before.current;
    before.current = rows;
    const element = box.current;
    if (!element || old === rows) return;
    const held = stay();
    if (held === "end") element.scrollTop = element.scrollHeight;
    if (held !== "row") return;
    // The browser may have scrolled already, if there is less to scroll than before.
    const shift = shifted(old, rows, Math.floor(top.current / height));
    if (shift) element.scrollTop = top.current + shift * height;
  });
  return () => {
    top.current = box.current?.scrollTop ?? 0;
  };
}
