/** Draws bars as candles, and prices that matter as levels. */
import { colour } from "~/ui/appearance";
import { type Bars, shownBars, widthOf } from "./bars";
import { type Box, beyond, type Layout, xOf, yOf } from "./layout";
import { type Level, levelsIn } from "./panes";

type Pen = CanvasRenderingContext2D;

/** Levels that an edge names; of more it says how many there are. */
const NAMED = 2;

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

export function drawLevels(pen: Pen, layout: Layout, box: Box): void {
  if (box.isEmpty) return;
  pen.textAlign = "left";
  for (const { value, label, colour: name, since } of levelsIn(
    box.pane.levels ?? [],
    layout.view,
  )) {
    const y = Math.round(yOf(box, value)) + 0.5;
    if (y < box.top || y > box.top + box.height) continue;
    const x = since == null ? 0 : Math.max(0, xOf(layout, since));
    pen.strokeStyle = colour(name);
    pen.lineWidth = 1;
    pen.setLineDash([6, 4]);
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(layout.width, y);
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = colour(name);
    const left = Math.max(6, Math.min(x + 6, layout.width - pen.measureText(label).width - 6));
    pen.fillText(label, left, y > box.top + box.legend + 14 ? y - 7 : y + 8);
  }
  const { above, below } = beyond(box, layout.view);
  drawBeyond(pen, layout, "\u2191", above, box.top + box.legend + 10);
  drawBeyond(pen, layout, "\u2193", below, box.top + box.height - 9);
}

/** At an edge of a pane, the levels that are farther away. */
function drawBeyond(pen: Pen, layout: Layout, arrow: string, levels: Level[], y: number): void {
  const [first] = levels;
  if (!first) return;
  const names = levels.slice(0, NAMED).map(({ label }) => label);
  const more = levels.length > NAMED ? [`${levels.length - NAMED} more`] : [];
  pen.fillStyle = colour(
    levels.every((one) => one.colour === first.colour) ? first.colour : "soft",
  );
  pen.textAlign = "right";
  pen.fillText(
    `${arrow} ${[...names, ...more].join(" · ")}`,
    layout.width - 6,
    y,
    layout.width - 12,
  );
}
