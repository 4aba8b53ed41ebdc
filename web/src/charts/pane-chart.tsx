/**
 * Several curves over one time axis, in panes below one another, with a legend that follows the
 * pointer. Loaded when needed. A figure around it says the same in words and as a table.
 */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Mark } from "~/api/types";
import { watch } from "~/ui/appearance";
import type { Axis } from "./axis";
import { candleAt } from "./bars";
import { gestures } from "./gestures";
import { FOOT, type Layout, laidOut, timeAt, xOf } from "./layout";
import type { Traded } from "./markers";
import { type Arrow, type Pointer, painted } from "./paint";
import { drawn, followed, type Pane, placeBefore, type View, within } from "./panes";
import "./series.css";

export interface PaneChartProps {
  panes: readonly Pane[];
  /** Marked in the first pane. */
  trades?: readonly Traded[];
  /** Versions and downtime of a live model. */
  marks?: readonly Mark[];
  axis?: Axis;
  /** From the first moment of the axis to the last. */
  all: View;
  /** The range in view; null shows everything. A new object moves the chart there. */
  view: View | null;
  onView: (view: View) => void;
  onTrade?: ((id: string) => void) | undefined;
  legend?: boolean;
  /** A moment that somebody marked, and what marks another: a press beside the orders. */
  moment?: number | null;
  onMoment?: ((time: number) => void) | undefined;
}

interface Row {
  id: string;
  label: string;
  colour: string;
  text: string;
}

const NO_MARKS: readonly Mark[] = [];
const NO_TRADES: readonly Traded[] = [];
/** Milliseconds without a move after which the view is told. */
const SETTLED = 200;

export function PaneChart({
  panes: given,
  trades = NO_TRADES,
  marks = NO_MARKS,
  axis = "time",
  all,
  view,
  onView,
  onTrade,
  legend = true,
  moment = null,
  onMoment,
}: PaneChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const panes = useOrdered(given);
  const latest = useRef({ panes, trades, axis, all, onView, onTrade, onMoment });
  latest.current = { panes, trades, axis, all, onView, onTrade, onMoment };
  const current = useRef<View | null>(null);
  const layout = useRef<Layout | null>(null);
  const arrows = useRef<Arrow[]>([]);
  const pointer = useRef<Pointer | null>(null);
  const frame = useRef(0);
  const timer = useRef(0);
  const written = useRef<(HTMLDivElement | null)[]>([]);
  /** The highest that each legend was: curves must not jump while its numbers change. */
  const highest = useRef<number[]>([]);
  // What React draws over the canvas: the layout of the last frame and the moment under the pointer.
  const [shown, setShown] = useState<{ layout: Layout; at: number | null } | null>(null);

  const draw = useCallback(() => {
    frame.current = 0;
    const [box, here] = [place.current, canvas.current];
    const pen = here?.getContext("2d");
    if (!box || !here || !pen) return;
    const { panes: now, trades: orders, axis: kind, all: whole } = latest.current;
    const size = { width: box.clientWidth, height: box.clientHeight };
    sharpen(here, pen, size);
    const seen = current.current ?? whole;
    const measure = (text: string) => pen.measureText(text).width;
    const next = laidOut(now, seen, size, highest.current, measure, kind);
    layout.current = next;
    arrows.current = painted(pen, next, orders, pointer.current);
    setShown({ layout: next, at: pointer.current ? timeAt(next, pointer.current.x) : null });
  }, []);
  const redraw = useCallback(() => {
    frame.current ||= requestAnimationFrame(draw);
  }, [draw]);
  const tell = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      latest.current.onView(current.current ?? latest.current.all);
    }, SETTLED);
  }, []);
  const move = useCallback(
    (next: View) => {
      const { all: whole } = latest.current;
      current.current = within(next, whole);
      redraw();
      tell();
    },
    [redraw, tell],
  );

  useEffect(() => {
    if (!place.current) return;
    const stop = gestures(place.current, {
      layout: () => layout.current,
      isWhole: () => current.current === null,
      move,
      point: (at) => {
        pointer.current = at;
        redraw();
      },
      press: (at) => {
        const hit = arrows.current.findLast(
          ({ x, y }) => Math.abs(x - at.x) < 12 && Math.abs(y - at.y) < 14,
        );
        const { current: now } = layout;
        if (hit && latest.current.onTrade) latest.current.onTrade(hit.id);
        else if (now && at.x <= now.width) latest.current.onMoment?.(timeAt(now, at.x));
      },
    });
    const resized = new ResizeObserver(() => {
      highest.current = [];
      draw();
    });
    resized.observe(place.current);
    const unwatch = watch(redraw);
    return () => {
      stop();
      resized.disconnect();
      unwatch();
      cancelAnimationFrame(frame.current);
      frame.current = 0;
      clearTimeout(timer.current);
    };
  }, [draw, redraw, move]);

  useEffect(() => {
    current.current = view ? within(view, latest.current.all) : null;
    redraw();
  }, [view, redraw]);

  const before = useRef(all);
  useEffect(() => {
    const next = followed(current.current, before.current, all);
    if (next && next !== current.current) tell();
    current.current = next;
    before.current = all;
    redraw();
  }, [all, redraw, tell]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other data are drawn again
  useEffect(redraw, [panes, trades, axis, redraw]);

  useLayoutEffect(() => {
    let isHigher = false;
    written.current.slice(0, panes.length).forEach((one, at) => {
      const height = one?.offsetHeight ?? 0;
      if (height <= (highest.current[at] ?? 0)) return;
      highest.current[at] = height;
      isHigher = true;
    });
    if (isHigher) redraw();
  });

  return (
    <div
      ref={place}
      className="relative h-full min-h-0 cursor-crosshair touch-pan-y overflow-hidden select-none"
    >
      <div aria-hidden="true" className="absolute inset-0">
        <canvas ref={canvas} className="size-full" />
      </div>
      {shown && <Overlays layout={shown.layout} marks={marks} />}
      {shown && moment !== null && <Moment layout={shown.layout} at={moment} />}
      {legend &&
        shown?.layout.boxes.map(({ top, pane }, at) => (
          <div
            key={pane.id}
            ref={(one) => {
              written.current[at] = one;
            }}
            aria-hidden="true"
            className="pointer-events-none absolute left-1 z-10 flex max-w-[75%] flex-wrap gap-x-3 text-xs"
            style={{ top: top + 4 }}
          >
            {rowsOf(pane, shown.at).map((row) => (
              <span key={row.id} className="flex min-w-0 flex-wrap items-center gap-x-1.5">
                <span className="h-0.5 w-3 shrink-0" style={{ backgroundColor: row.colour }} />
                <span dir="auto" className="truncate text-soft">
                  {row.label}
                </span>
                <span className="num min-w-0">{row.text}</span>
              </span>
            ))}
          </div>
        ))}
    </div>
  );
}

/** Where versions begin and where the model was down. */
function Overlays({ layout, marks }: { layout: Layout; marks: readonly Mark[] }) {
  const { width } = layout;
  return marks.map((mark) => {
    const left = xOf(layout, mark.time);
    const isVersion = mark.kind === "version";
    const right = isVersion ? left + 1 : mark.until === null ? width : xOf(layout, mark.until);
    if (right < 0 || left > width) return null;
    const from = Math.max(0, left);
    return (
      <div
        key={`${mark.kind} ${mark.time}`}
        aria-hidden="true"
        data-mark={mark.kind}
        className={`pointer-events-none absolute top-0 z-10 ${isVersion ? "border-l border-dashed border-accent" : "bg-[repeating-linear-gradient(135deg,transparent_0_4px,var(--line)_4px_6px)] opacity-70"}`}
        style={{ left: from, width: Math.max(1, Math.min(width, right) - from), bottom: FOOT }}
      >
        {isVersion && (
          <span
            className={`absolute bottom-0 rounded-sm bg-accent-ground px-1 text-xs text-ink ${left > width - 30 ? "right-0" : "left-0"}`}
          >
            v{mark.version}
          </span>
        )}
      </div>
    );
  });
}

/** A moment that somebody marked. */
function Moment({ layout, at }: { layout: Layout; at: number }) {
  const left = xOf(layout, at);
  if (left < 0 || left > layout.width) return null;
  return (
    <div
      aria-hidden="true"
      data-mark="moment"
      className="pointer-events-none absolute top-0 z-10 border-l-2 border-warn"
      style={{ left: left - 1, bottom: FOOT }}
    />
  );
}

function rowsOf(pane: Pane, at: number | null): Row[] {
  return pane.curves.map(({ id, label, colour, points }) => {
    const found =
      at === null
        ? points.findLast(({ value }) => value !== null)
        : points[placeBefore(points, at)];
    const value = found?.value ?? null;
    const candle = pane.bars && id === pane.curves[0]?.id ? candleAt(pane.bars, at) : null;
    const text = candle
      ? candle.map(([name, one]) => `${name}\u00a0${pane.format(one)}`).join(" ")
      : value === null
        ? ""
        : pane.format(value);
    return { id, label, colour: `var(--${colour})`, text };
  });
}

/** Panes whose points are in order, so that they can be searched in every frame. */
function useOrdered(panes: readonly Pane[]): readonly Pane[] {
  const kept = useRef<{ given: readonly Pane[]; ordered: readonly Pane[] } | null>(null);
  if (kept.current?.given !== panes) {
    const ordered = panes.map((pane) => ({
      ...pane,
      curves: pane.curves.map((curve) => ({ ...curve, points: drawn(curve.points) })),
    }));
    kept.current = { given: panes, ordered };
  }
  return kept.current.ordered;
}

/** As many pixels as the screen has, and the font of the page. */
function sharpen(
  canvas: HTMLCanvasElement,
  pen: CanvasRenderingContext2D,
  size: { width: number; height: number },
): void {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = `11px ${getComputedStyle(canvas).fontFamily}`;
}
