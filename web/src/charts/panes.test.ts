import { expect, it } from "vitest";
import { closer, drawn, placeOf, roomAbove, sampled, steered, wanted } from "./panes";

const ALL = { from: 0, to: 1000 };
const at = (...times: number[]) => times.map((time) => ({ time, value: time }));

it("puts points in order, one per moment", () => {
  expect(
    drawn([
      { time: 1, value: 1 },
      { time: 1, value: null },
      { time: 0, value: 3 },
      { time: 2, value: 4 },
    ]),
  ).toEqual([
    { time: 1, value: null },
    { time: 2, value: 4 },
  ]);
});

it("puts detail into the whole", () => {
  expect(closer(at(0, 10, 20, 30), at(10, 12, 14, 20)).map(({ time }) => time)).toEqual([
    0, 10, 12, 14, 20, 30,
  ]);
  expect(closer(at(0, 10), [])).toEqual(at(0, 10));
});

it("asks for detail only when looked at closely, and not again for every step", () => {
  expect(wanted({ from: 0, to: 900 }, ALL, null)).toBeNull();
  const asked = wanted({ from: 400, to: 500 }, ALL, null);
  expect(asked).toEqual({ from: 350, to: 550 });
  expect(wanted({ from: 410, to: 510 }, ALL, asked)).toBe(asked);
  expect(wanted({ from: 420, to: 440 }, ALL, asked)).toEqual({ from: 410, to: 450 });
  expect(wanted({ from: 500, to: 600 }, ALL, asked)).toEqual({ from: 450, to: 650 });
});

it("is steered by the keyboard and stays within what there is", () => {
  expect(steered(null, ALL, "+")).toEqual({ from: 250, to: 750 });
  expect(steered({ from: 250, to: 750 }, ALL, "ArrowRight")).toEqual({ from: 375, to: 875 });
  expect(steered({ from: 500, to: 1000 }, ALL, "ArrowRight")).toEqual({ from: 500, to: 1000 });
  expect(steered({ from: 250, to: 750 }, ALL, "-")).toBeNull();
  expect(steered({ from: 250, to: 750 }, ALL, "0")).toBeNull();
  expect(steered(null, ALL, "ArrowLeft")).toBeNull();
  expect(steered(null, ALL, "a")).toBeUndefined();
});

it("knows where a moment lies between its points", () => {
  const points = at(0, 10, 30);
  expect([
    placeOf(points, -5),
    placeOf(points, 5),
    placeOf(points, 20),
    placeOf(points, 99),
  ]).toEqual([0, 0.5, 1.5, 2]);
  expect(placeOf([], 5)).toBe(0);
});

it("thins out with its end kept", () => {
  const points = at(...Array.from({ length: 1_001 }, (_, place) => place));
  const some = sampled(points, 100);
  expect(some.length).toBe(100);
  expect(some.at(-1)).toEqual({ time: 1_000, value: 1_000 });
  expect(sampled([0, 1, 2, 3, 4, 5, 6, 7, 8], 3)).toEqual([0, 4, 8]);
  expect(sampled([1, 2], 3)).toEqual([1, 2]);
});

it("leaves room for the legend of a pane, but never all of it", () => {
  expect(roomAbove(0, 300)).toBe(0.16);
  expect(roomAbove(80, 300)).toBeCloseTo(0.3);
  expect(roomAbove(400, 300)).toBe(0.6);
  expect(roomAbove(80, 0)).toBe(0.16);
});
