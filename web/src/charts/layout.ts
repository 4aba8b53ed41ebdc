/** Where everything of a chart lies, in pixels. Time runs linearly: an idle hour is as wide as a busy one. */
import { type Axis, type Tick, timeTicks } from "./axis";
import { extentOfBars } from "./bars";
import {
  type Curve,
  type Level,
  levelsIn,
  type Pane,
  type PanePoint,
  placeBefore,
  type View,
  valueAt,
} from "./panes";
import { type Extent, spread, tickTexts, valueTicks } from "./values";

export interface Size {
  width: number;
  height: number;
}

export interface Placed {
  value: number;
  text: string;
  y: number;
}

/** A pane with the values at its upper and lower edge. */
export interface Box extends Extent {
  pane: Pane;
  top: number;
  height: number;
  /** Whether it has a value in view: without one there is no axis. */
  isEmpty: boolean;
  /** The height of its legend. */
  legend: number;
  ticks: Placed[];
}

export interface Layout {
  view: View;
  axis: Axis;
  /** Of the curves, without the labels of the axes. */
  width: number;
  height: number;
  boxes: Box[];
  times: (Tick & { x: number })[];
}

/** Pixels below the curves for the time axis. */
export const FOOT = 24;
const LINE = 14;
const BETWEEN_TICKS = 42;
const BETWEEN_TIMES = 62;
const [ABOVE, BELOW] = [14, 14];
const NARROWEST_AXIS = 48;

/** `legends` are the heights of the panes' legends, `measure` the width of a text. */
export function laidOut(
  panes: readonly Pane[],
  view: View,
  size: Size,
  legends: readonly number[],
  measure: (text: string) => number,
  axis: Axis = "time",
): Layout {
  const height = Math.max(1, size.height - FOOT);
  const whole = panes.reduce((sum, { weight }) => sum + weight, 0) || 1;
  let top = 0;
  const boxes = panes.map((pane, place) => {
    const box = boxOf(pane, view, top, (height * pane.weight) / whole, legends[place] ?? 0);
    top += box.height;
    return box;
  });
  const labels = boxes.flatMap(({ pane, ticks }) => [
    ...ticks.map(({ text }) => text),
    ...endings(pane).map(({ value }) => pane.format(value)),
  ]);
  const gutter = Math.max(NARROWEST_AXIS, ...labels.map((text) => measure(text) + 14));
  const width = Math.max(1, size.width - Math.ceil(gutter));
  const layout = { view, axis, width, height, boxes, times: [] };
  const ticks = timeTicks(view, width / BETWEEN_TIMES, axis);
  return { ...layout, times: apart(ticks, layout, measure) };
}

export function xOf({ view, width }: Pick<Layout, "view" | "width">, time: number): number {
  const span = view.to - view.from;
  return span > 0 ? ((time - view.from) / span) * width : width / 2;
}

export function timeAt({ view, width }: Pick<Layout, "view" | "width">, x: number): number {
  return view.from + (x / width) * (view.to - view.from);
}

export function yOf(
  { top, height, low, high }: Pick<Box, "top" | "height" | "low" | "high">,
  value: number,
): number {
  return top + ((high - value) / (high - low)) * height;
}

/** The last known value of a curve that has a tag at the axis: one that is alone in its pane, or has bars. */
export function endings({ curves, bars }: Pane): { value: number; colour: string }[] {
  const [only] = curves;
  if (!only || (curves.length > 1 && !bars)) return [];
  const value = only.points.findLast((one) => one.value !== null)?.value ?? null;
  if (value === null) return [];
  const isLoss = only.kind === "gain" && value < 0;
  return [{ value, colour: isLoss ? "down" : only.colour }];
}

/** The lowest and highest value in view, with the heights at both edges. */
export function extentOf(points: readonly PanePoint[], { from, to }: View): Extent | null {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const look = (value: number | null | undefined) => {
    if (value == null || !Number.isFinite(value)) return;
    if (value < low) low = value;
    if (value > high) high = value;
  };
  look(valueAt(points, from));
  look(valueAt(points, to));
  for (let at = placeBefore(points, from); at < points.length; at += 1) {
    const point = points[at];
    if (point && point.time > to) break;
    if (point && point.time >= from) look(point.value);
  }
  return low <= high && Number.isFinite(high - low) ? { low, high } : null;
}

function boxOf(pane: Pane, view: View, top: number, height: number, legend: number): Box {
  const found = shownBy(pane, view);
  const { low, high } = spread(found ?? { low: 0, high: 1 });
  const above = Math.min(height * 0.6, legend + ABOVE);
  const below = Math.min(height * 0.2, BELOW);
  const perPixel = (high - low) / Math.max(1, height - above - below);
  const box = { top, height, low: low - below * perPixel, high: high + above * perPixel };
  const values = found ? valueTicks(box, height / BETWEEN_TICKS) : [];
  const texts = tickTexts(values, pane.scale ?? "number");
  const ticks = values
    .map((value, place) => ({ value, text: texts[place] ?? "", y: yOf(box, value) }))
    // A label that its pane would cut is left out.
    .filter(({ y }) => y >= top + LINE / 2 && y <= top + height - LINE / 2);
  return { ...box, pane, isEmpty: found === null, legend, ticks };
}

/** The levels that lie above and below what a pane shows: at its edges they are named. */
export function beyond(
  { pane, isEmpty, low, high }: Box,
  view: View,
): { above: Level[]; below: Level[] } {
  const there = isEmpty ? [] : levelsIn(pane.levels ?? [], view);
  return {
    above: there.filter(({ value }) => value > high),
    below: there.filter(({ value }) => value < low),
  };
}

/**
 * Levels do not count: one that is out of reach would flatten the curves, and the edge names it.
 * Beside candles, curves stretch the scale no further than to twice the height of the candles.
 */
function shownBy({ curves, bars }: Pane, view: View): Extent | null {
  const candles = bars && extentOfBars(bars, view);
  if (candles) return besideCandles(spread(candles), curves, view);
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { points, kind } of curves) {
    const found = extentOf(points, view);
    if (!found) continue;
    const base = kind === "gain" || kind === "below" ? 0 : found.low;
    low = Math.min(low, found.low, base);
    high = Math.max(high, found.high, base);
  }
  return low <= high ? { low, high } : null;
}

function besideCandles({ low, high }: Extent, curves: readonly Curve[], view: View): Extent {
  const room = (high - low) / 2;
  const found = curves.flatMap(({ points }) => extentOf(points, view) ?? []);
  return {
    low: Math.max(low - room, Math.min(low, ...found.map((one) => one.low))),
    high: Math.min(high + room, Math.max(high, ...found.map((one) => one.high))),
  };
}

/** Labels that fit between the edges without touching each other. */
function apart(ticks: readonly Tick[], layout: Layout, measure: (text: string) => number) {
  const found: Layout["times"] = [];
  let free = 0;
  for (const tick of ticks) {
    const half = measure(tick.text) / 2;
    const x = Math.min(Math.max(xOf(layout, tick.time), half), layout.width - half);
    if (x - half < free) continue;
    found.push({ ...tick, x });
    free = x + half + 10;
  }
  return found;
}
