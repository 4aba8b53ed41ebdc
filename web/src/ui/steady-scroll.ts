/** Lists that are read while they change: what is looked at must not move. */
import { type RefObject, useLayoutEffect, useRef } from "react";

interface Numbered {
  seq: number;
}

/** By how many rows one has moved because others came or went before it. */
export function shifted(
  before: readonly Numbered[],
  after: readonly Numbered[],
  place: number,
): number {
  // The one that is looked at may itself be gone; then the next that is still there.
  for (let at = Math.max(0, place); at < before.length; at += 1) {
    const seq = before[at]?.seq;
    const now = after.findIndex((row) => row.seq === seq);
    if (now >= 0) return now - at;
    if (at > place + 50) break;
  }
  return 0;
}

/**
 * A key for a row in sight that is taken over by another once it is out of sight: what is already in
 * the page gets other words, which is cheaper than to remove a row and make a new one.
 */
export function slotted(count: number): (index: number) => number {
  const slots = 2 ** Math.ceil(Math.log2(Math.max(64, count)));
  return (index) => index % slots;
}

/**
 * Rows that come or go above push by exactly their height. `stay` says what to hold instead: the end
 * of a log that is followed, or the start of a list whose newest rows come on top.
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
    // The browser may have moved it already, where there is less to scroll than before.
    const shift = shifted(old, rows, Math.floor(top.current / height));
    if (shift) element.scrollTop = top.current + shift * height;
  });
  return () => {
    top.current = box.current?.scrollTop ?? 0;
  };
}
