/** Mouse and fingers on a chart: drag to move, wheel or two fingers to zoom, press to choose. */
import { type Layout, timeAt } from "./layout";
import type { Pointer } from "./paint";
import { type View, zoomed } from "./panes";

export interface Hands {
  layout: () => Layout | null;
  isWhole: () => boolean;
  move: (view: View) => void;
  /** The pointer over the chart; null when it left. */
  point: (at: Pointer | null) => void;
  press: (at: Pointer) => void;
}

/** Pixels within which a press is not yet a drag. */
const STEADY = 4;
const WHEEL = 0.0015;

/** Listens on an element until the answer is called. */
export function gestures(element: HTMLElement, hands: Hands): () => void {
  const down = new Map<number, Pointer>();
  let travelled = 0;
  const at = (event: MouseEvent): Pointer => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  function pressed(event: PointerEvent) {
    if (event.button !== 0) return;
    if (down.size === 0) travelled = 0;
    down.set(event.pointerId, at(event));
  }
  function moved(event: PointerEvent) {
    const now = at(event);
    const before = down.get(event.pointerId);
    const layout = hands.layout();
    if (before && layout) {
      travelled += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      if (travelled > STEADY) {
        // Only a drag is captured: a captured press would take the click from what lies above.
        if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
        const others = [...down.entries()].filter(([id]) => id !== event.pointerId);
        const other = others[0]?.[1];
        hands.move(other ? pinched(layout, other, before, now) : dragged(layout, before, now));
        down.set(event.pointerId, now);
      }
    }
    hands.point(event.pointerType === "touch" && down.size !== 1 ? null : now);
  }
  function released(event: PointerEvent) {
    const was = down.delete(event.pointerId);
    if (was && event.type === "pointerup" && travelled <= STEADY) hands.press(at(event));
    if (event.pointerType === "touch") hands.point(null);
  }
  function left() {
    if (down.size === 0) hands.point(null);
  }
  function turned(event: WheelEvent) {
    const layout = hands.layout();
    if (!layout || event.deltaY === 0) return;
    // Where there is nothing more to show, the wheel scrolls the page.
    if (event.deltaY > 0 && hands.isWhole()) return;
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    const factor = Math.exp(Math.max(-400, Math.min(400, pixels)) * WHEEL);
    hands.move(zoomed(layout.view, timeAt(layout, Math.min(at(event).x, layout.width)), factor));
  }
  const stop = new AbortController();
  const { signal } = stop;
  element.addEventListener("pointerdown", pressed, { signal });
  element.addEventListener("pointermove", moved, { signal });
  element.addEventListener("pointerup", released, { signal });
  element.addEventListener("pointercancel", released, { signal });
  element.addEventListener("pointerleave", left, { signal });
  element.addEventListener("wheel", turned, { signal, passive: false });
  return () => stop.abort();
}

export function dragged(layout: Layout, before: Pointer, now: Pointer): View {
  const by = timeAt(layout, before.x) - timeAt(layout, now.x);
  return { from: layout.view.from + by, to: layout.view.to + by };
}

/** The finger that stays keeps its moment; the other takes its own along. */
export function pinched(layout: Layout, still: Pointer, before: Pointer, now: Pointer): View {
  const [was, is] = [Math.abs(before.x - still.x), Math.abs(now.x - still.x)];
  if (was < 1 || is < 1) return layout.view;
  return zoomed(layout.view, timeAt(layout, still.x), was / is);
}
