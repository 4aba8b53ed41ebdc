/** Draws bars as candles, and prices that matter as levels. */
import { colour } from "~/ui/appearance";
import { type Bars, shownBars, widthOf } from "./bars";
import { type Box, type Layout, xOf, yOf } from "./layout";
import type { Level } from "./panes";

type Pen = CanvasRenderingContext2D;

export function drawCandles(pen: Pen, layout: Layout, box: Box, bars: Bars): void {
  const [first, end] = shownBars(bars, layout.view);
  const perSecond = layout.width / (layout.view.to - layout.view.from);
  // One path for each colour: a thousand bars are two strokes and two fills.
  for (const isRise of [true, false]) {
    const [wicks, bodies] = [new Path2D(), new Path2D()];
    for (let at = first; at < end; at += 1) {
      const [open, close] = [bars.open[at] ?? 0, bars.close[at] ?? 0];
      if (close >= open !== isRise) continue;
      const width = widthOf(bars, at);
      const body = Math.max(1, Math.floor(width * perSecond * 0.7));
      const x = Math.round(xOf(layout, (bars.time[at] ?? 0) + width / 2)) + 0.5;
      const [top, foot] = [yOf(box, Math.max(open, close)), yOf(box, Math.min(open, close))];
      wicks.moveTo(x, yOf(box, bars.high[at] ?? 0));
      wicks.lineTo(x, yOf(box, bars.low[at] ?? 0));
      bodies.rect(x - body / 2, top, body, Math.max(1, foot - top));
    }
    const ink = colour(isRise ? "up" : "down");
    pen.lineWidth = 1;
    pen.strokeStyle = ink;
    pen.stroke(wicks);
    pen.fillStyle = ink;
    pen.fill(bodies);
  }
}

export function drawLevels(pen: Pen, layout: Layout, box: Box, levels: readonly Level[]): void {
  pen.textAlign = "left";
  for (const { value, label, colour: name } of levels) {
    const y = Math.round(yOf(box, value)) + 0.5;
    if (y < box.top || y > box.top + box.height) continue;
    pen.strokeStyle = colour(name);
    pen.lineWidth = 1;
    pen.setLineDash([6, 4]);
    pen.beginPath();
    pen.moveTo(0, y);
    pen.lineTo(layout.width, y);
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = colour(name);
    pen.fillText(label, 6, y > box.top + 14 ? y - 7 : y + 8);
  }
}
