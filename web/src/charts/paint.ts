/** Draws a laid-out chart on a canvas: axes, curves, orders and the lines under the pointer. */
import { colour } from "~/ui/appearance";
import { axisText } from "./axis";
import { drawCandles, drawLevels } from "./candles";
import { type Box, endings, type Layout, timeAt, xOf, yOf } from "./layout";
import { type Bucket, bucketed, counted, type Traded } from "./markers";
import { type Curve, type PanePoint, placeBefore, valueAt } from "./panes";

export interface Pointer {
  x: number;
  y: number;
}

/** An order, or several drawn as one, where it was drawn. */
export interface Arrow extends Bucket {
  x: number;
  y: number;
}

type Pen = CanvasRenderingContext2D;

const DASHES: readonly number[][] = [[], [6, 4], [2, 3], [10, 5]];
const TAG = 16;
const ARROW = 5;

/** Draws everything and answers where the orders are. */
export function painted(
  pen: Pen,
  layout: Layout,
  trades: readonly Traded[],
  pointer: Pointer | null,
): Arrow[] {
  pen.clearRect(0, 0, pen.canvas.width, pen.canvas.height);
  pen.textBaseline = "middle";
  grid(pen, layout);
  for (const box of layout.boxes) {
    clipped(pen, { x: 0, y: box.top, width: layout.width, height: box.height }, () => {
      const { curves, bars } = box.pane;
      if (bars) drawCandles(pen, layout, box, bars);
      for (const curve of bars ? curves.slice(1) : curves) drawCurve(pen, layout, box, curve);
      drawLevels(pen, layout, box);
    });
  }
  const arrows = arrowsOf(layout, trades);
  for (const arrow of arrows) drawArrow(pen, layout, arrow);
  axes(pen, layout);
  if (pointer && pointer.x <= layout.width && pointer.y <= layout.height)
    cross(pen, layout, pointer);
  return arrows;
}

function grid(pen: Pen, { boxes, width }: Layout): void {
  pen.lineWidth = 1;
  pen.strokeStyle = colour("line");
  for (const { ticks, top } of boxes) {
    if (top > 0) line(pen, 0, top, pen.canvas.width, top);
    for (const { y } of ticks) line(pen, 0, y, width, y);
  }
}

function axes(pen: Pen, layout: Layout): void {
  pen.fillStyle = colour("soft");
  pen.textAlign = "center";
  for (const { x, text } of layout.times) pen.fillText(text, x, layout.height + 13);
  for (const box of layout.boxes) {
    if (box.isEmpty) sayEmpty(pen, layout, box);
    const tags = (box.isEmpty ? [] : endings(box.pane)).map((one) => ({
      ...one,
      y: tagPlace(box, one.value),
    }));
    pen.fillStyle = colour("soft");
    pen.textAlign = "left";
    for (const { y, text } of box.ticks)
      if (tags.every((tag) => Math.abs(tag.y - y) >= TAG - 2))
        pen.fillText(text, layout.width + 8, y);
    for (const { y, value, colour: name } of tags)
      tag(pen, layout.width, y, box.pane.format(value), colour(name));
  }
}

function sayEmpty(pen: Pen, layout: Layout, box: Box): void {
  pen.fillStyle = colour("soft");
  pen.textAlign = "center";
  pen.fillText("No values in this range", layout.width / 2, box.top + box.height / 2);
}

/** A tag stays within its pane, though its value may be out of view. */
function tagPlace(box: Box, value: number): number {
  const y = yOf(box, value);
  return Math.min(Math.max(y, box.top + TAG / 2), box.top + box.height - TAG / 2);
}

function tag(pen: Pen, x: number, y: number, text: string, ground: string): void {
  pen.fillStyle = ground;
  pen.fillRect(x + 3, y - TAG / 2, pen.measureText(text).width + 10, TAG);
  pen.fillStyle = colour("surface");
  pen.textAlign = "left";
  pen.fillText(text, x + 8, y + 0.5);
}

function drawCurve(pen: Pen, layout: Layout, box: Box, curve: Curve): void {
  const found = colour(curve.colour);
  const pieces = inView(layout, curve.points);
  const zero = yOf(box, 0);
  pen.setLineDash(DASHES[(curve.dash ?? 0) % DASHES.length] ?? []);
  pen.lineWidth = curve.kind === "below" ? 1.2 : 1.8;
  pen.lineJoin = "round";
  if (curve.kind === "gain") {
    const [up, down] = [colour("up"), colour("down")];
    const above = { x: 0, y: box.top, width: layout.width, height: zero - box.top };
    const below = { ...above, y: zero, height: box.top + box.height - zero };
    clipped(pen, above, () => strokes(pen, layout, box, pieces, up, zero));
    clipped(pen, below, () => strokes(pen, layout, box, pieces, down, zero));
    pen.setLineDash([2, 3]);
    pen.lineWidth = 1;
    pen.strokeStyle = colour("field-line");
    line(pen, 0, zero, layout.width, zero);
  } else {
    const foot = curve.kind === "below" ? zero : box.top + box.height;
    strokes(pen, layout, box, pieces, found, curve.kind === "line" ? null : foot);
  }
  pen.setLineDash([]);
}

/** The line of each piece, over an area that reaches to a height. */
function strokes(
  pen: Pen,
  layout: Layout,
  box: Box,
  pieces: readonly PanePoint[][],
  ink: string,
  foot: number | null,
): void {
  for (const piece of pieces) {
    const path = new Path2D();
    for (const { time, value } of piece) path.lineTo(xOf(layout, time), yOf(box, value ?? 0));
    const [first, last] = [piece[0], piece.at(-1)];
    if (!first || !last) continue;
    if (foot !== null) {
      const area = new Path2D(path);
      area.lineTo(xOf(layout, last.time), foot);
      area.lineTo(xOf(layout, first.time), foot);
      pen.fillStyle = faded(ink, 0.14);
      pen.fill(area);
    }
    if (first === last) {
      // A single point between gaps would be invisible as a line.
      path.arc(xOf(layout, first.time), yOf(box, first.value ?? 0), 1.5, 0, 7);
    }
    pen.strokeStyle = ink;
    pen.stroke(path);
  }
}

/** The stretches of a curve that a view shows, each without gaps, with the points just outside it. */
export function inView(
  { view }: Pick<Layout, "view">,
  points: readonly PanePoint[],
): PanePoint[][] {
  const found: PanePoint[][] = [];
  let piece: PanePoint[] = [];
  for (let at = Math.max(0, placeBefore(points, view.from)); at < points.length; at += 1) {
    const point = points[at] as PanePoint;
    if (point.value === null) {
      if (piece.length) found.push(piece);
      piece = [];
    } else piece.push(point);
    if (point.time > view.to) break;
  }
  if (piece.length) found.push(piece);
  return found;
}

function arrowsOf(layout: Layout, trades: readonly Traded[]): Arrow[] {
  const box = layout.boxes[0];
  const points = box?.pane.curves[0]?.points ?? [];
  if (!box) return [];
  const seen = { ...layout.view, width: layout.width };
  return bucketed(trades, seen).flatMap((bucket) => {
    const value = bucket.price ?? valueAt(points, bucket.time);
    if (value === null) return [];
    const y = yOf(box, value) + (bucket.side === "buy" ? 8 : -8);
    const [top, foot] = [box.top + ARROW + 2, box.top + box.height - ARROW - 2];
    return [{ ...bucket, x: xOf(layout, bucket.time), y: Math.min(Math.max(y, top), foot) }];
  });
}

function drawArrow(pen: Pen, layout: Layout, { side, x, y, ...bucket }: Arrow): void {
  const down = side === "buy" ? 1 : -1;
  pen.fillStyle = colour(side === "buy" ? "up" : "down");
  pen.beginPath();
  pen.moveTo(x, y - ARROW * down);
  pen.lineTo(x + ARROW, y + ARROW * down);
  pen.lineTo(x - ARROW, y + ARROW * down);
  pen.fill();
  const text = counted(bucket);
  if (!text) return;
  const half = pen.measureText(text).width / 2;
  pen.textAlign = "center";
  pen.fillText(text, Math.min(Math.max(x, half), layout.width - half), y + 13 * down);
}

function cross(pen: Pen, layout: Layout, { x, y }: Pointer): void {
  const box = layout.boxes.find(({ top, height }) => y >= top && y < top + height);
  pen.strokeStyle = colour("field-line");
  pen.lineWidth = 1;
  pen.setLineDash([3, 3]);
  line(pen, x, 0, x, layout.height);
  if (box) line(pen, 0, y, layout.width, y);
  pen.setLineDash([]);
  const text = axisText(timeAt(layout, x), layout.axis);
  const wide = pen.measureText(text).width + 12;
  const left = Math.min(Math.max(x - wide / 2, 0), Math.max(0, layout.width - wide));
  pen.fillStyle = colour("accent");
  pen.fillRect(left, layout.height + 4, wide, 18);
  pen.fillStyle = colour("surface");
  pen.textAlign = "left";
  pen.fillText(text, left + 6, layout.height + 13.5);
  if (!box) return;
  const value = box.high - ((y - box.top) / box.height) * (box.high - box.low);
  tag(pen, layout.width, y, box.pane.format(value), colour("accent"));
}

interface Frame {
  x: number;
  y: number;
  width: number;
  height: number;
}

function clipped(pen: Pen, { x, y, width, height }: Frame, draw: () => void): void {
  if (height <= 0) return;
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  draw();
  pen.restore();
}

function line(pen: Pen, fromX: number, fromY: number, toX: number, toY: number): void {
  pen.beginPath();
  // On whole pixels, a line of one pixel would be blurred over two.
  pen.moveTo(Math.round(fromX) + 0.5, Math.round(fromY) + 0.5);
  pen.lineTo(Math.round(toX) + 0.5, Math.round(toY) + 0.5);
  pen.stroke();
}

export function faded(rgb: string, opacity: number): string {
  return rgb.replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`);
}
