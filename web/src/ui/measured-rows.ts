/** Virtual rows that are as high as their text: each is measured once it is there. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useLayoutEffect, useRef } from "react";
import type { Places } from "./steady-scroll";

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
