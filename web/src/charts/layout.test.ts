import { expect, it } from "vitest";
import { beyond, extentOf, FOOT, laidOut, timeAt, xOf, yOf } from "./layout";
import type { Pane } from "./panes";

const HOUR = 3_600;
const pane = (points: [number, number | null][], kind: "gain" | "area" = "area"): Pane => ({
  id: "one",
  weight: 1,
  format: (value) => value.toFixed(2),
  curves: [
    {
      id: "one",
      label: "One",
      colour: "up",
      kind,
      points: points.map(([time, value]) => ({ time, value })),
    },
  ],
});
const measure = (text: string) => text.length * 6;
const placed = (panes: Pane[], from: number, to: number, width = 700, height = 320) =>
  laidOut(panes, { from, to }, { width, height }, [], measure);

it("is linear in time: idle hours are as wide as busy ones", () => {
  const points: [number, number][] = [[0, 0], [60, 1], [120, 2], [10 * HOUR, 3]]; // biome-ignore format: one line
  const layout = placed([pane(points)], 0, 10 * HOUR);
  expect(xOf(layout, 5 * HOUR)).toBeCloseTo(layout.width / 2);
  expect(xOf(layout, 120)).toBeCloseTo((120 / (10 * HOUR)) * layout.width);
  expect(timeAt(layout, xOf(layout, 4_711))).toBeCloseTo(4_711);
});

it("names levels that are out of its range, and none that did not hold yet", () => {
  const level = (value: number, since?: number) => ({ value, since, label: "", colour: "up" });
  const levels = [level(105), level(300), level(-50), level(400, 50), level(500, 2 * HOUR)];
  const layout = placed([{ ...pane([[0, 100], [60, 110]]), levels } as Pane], 0, HOUR); // biome-ignore format: one line
  const [box] = layout.boxes;
  const found = box && beyond(box, layout.view);
  expect(found?.above.map(({ value }) => value)).toEqual([300, 400]);
  expect(found?.below.map(({ value }) => value)).toEqual([-50]);
});

it("is not stretched by levels, and leaves candles at least half of its height", () => {
  const bars = { time: [0, 60], open: [100, 101], high: [102, 103], low: [99, 100], close: [101, 102], volume: null, interval: 60 }; // biome-ignore format: one line
  const closes = pane([[0, 101], [60, 102]]); // biome-ignore format: one line
  const levels = [{ value: 104, label: "", colour: "up" }];
  const alone = placed([{ ...closes, bars } as Pane], 0, 120).boxes[0];
  const beside = placed([{ ...closes, bars, levels } as Pane], 0, 120).boxes[0];
  expect([beside?.low, beside?.high]).toEqual([alone?.low, alone?.high]);
  const far = { id: "far", label: "Far", colour: "up", kind: "line", points: [{ time: 0, value: 5_000 }, { time: 120, value: 5_000 }] }; // biome-ignore format: one line
  const [box] = placed([{ ...closes, bars, curves: [...closes.curves, far] } as Pane], 0, 120).boxes; // biome-ignore format: one line
  const [whole, candles] = [(box?.high ?? 0) - (box?.low ?? 0), 103 - 99];
  expect(candles / whole).toBeGreaterThan(0.4);
});

it("has no axis for a pane without a value in view", () => {
  const layout = placed([pane([[0, 1], [60, 2]]), pane([[HOUR, 5]])], 0, 600); // biome-ignore format: one line
  expect(layout.boxes.map(({ isEmpty }) => isEmpty)).toEqual([false, true]);
  expect(layout.boxes[1]?.ticks).toEqual([]);
});

it("cuts no label, at any width", () => {
  for (const width of [260, 390, 1024, 1440]) {
    const layout = placed([pane([[0, -15_000], [9e6, 4_000]], "gain")], 0, 9e6, width); // biome-ignore format: one line
    for (const { x, text } of layout.times) {
      expect(x - measure(text) / 2).toBeGreaterThanOrEqual(0);
      expect(x + measure(text) / 2).toBeLessThanOrEqual(layout.width);
    }
    for (const { y, text } of layout.boxes[0]?.ticks ?? []) {
      expect(y).toBeGreaterThan(7 - 1e-9);
      expect(y).toBeLessThan(320 - FOOT - 7 + 1e-9);
      expect(layout.width + measure(text)).toBeLessThanOrEqual(width);
    }
  }
});

it("fits the values in view, and zero where gains are drawn", () => {
  const points: [number, number | null][] = [[0, 0], [10, 100], [20, 102], [30, null], [40, 101]]; // biome-ignore format: one line
  const seen = pane(points).curves[0]?.points ?? [];
  expect(extentOf(seen, { from: 12, to: 18 })).toEqual({ low: 100.4, high: 101.6 });
  expect(extentOf(seen, { from: 31, to: 39 })).toBeNull();
  const [close] = placed([pane(points)], 10, 40).boxes;
  expect(close?.low).toBeGreaterThan(99);
  const [gains] = placed([pane(points, "gain")], 10, 40).boxes;
  expect(gains?.low).toBeLessThan(0);
});

it("leaves room for the legend of a pane, but never all of it", () => {
  const [box] = laidOut([pane([[0, 1], [1, 2]])], { from: 0, to: 1 }, { width: 300, height: 324 }, [80], measure).boxes; // biome-ignore format: one line
  expect(box && yOf(box, 2)).toBeGreaterThanOrEqual(80);
  const [crowded] = laidOut([pane([[0, 1], [1, 2]])], { from: 0, to: 1 }, { width: 300, height: 124 }, [400], measure).boxes; // biome-ignore format: one line
  expect(crowded && yOf(crowded, 2)).toBeLessThanOrEqual(61);
});

it("can draw nothing, an instant and a flat line", () => {
  expect(placed([pane([])], 0, 10).boxes[0]?.ticks).toEqual([]);
  const instant = placed([pane([[5, 5]])], 5, 5);
  expect(xOf(instant, 5)).toBe(instant.width / 2);
  expect(Number.isFinite(instant.boxes[0]?.high)).toBe(true);
});
