import { expect, it } from "vitest";
import {
  closer,
  drawn,
  followed,
  sampled,
  steered,
  valueAt,
  wanted,
  within,
  zoomed,
} from "./panes";

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

it("knows the height of a curve between its points, and none outside or in a gap", () => {
  const points = [...at(0, 10), { time: 20, value: null }, { time: 30, value: 4 }];
  const found = [-1, 5, 10, 15, 20, 25, 30, 31].map((time) => valueAt(points, time));
  expect(found).toEqual([null, 5, 10, 10, null, null, 4, null]);
});

it("zooms around the pointer and never leaves the whole", () => {
  expect(zoomed({ from: 0, to: 1000 }, 250, 0.5)).toEqual({ from: 125, to: 625 });
  expect(within({ from: -500, to: -100 }, ALL)).toEqual({ from: 0, to: 400 });
  expect(within({ from: -5, to: 1005 }, ALL)).toBeNull();
  const closest = within({ from: 500, to: 500 }, ALL);
  expect(closest && closest.to - closest.from).toBeCloseTo(0.01);
  expect(within({ from: 3, to: 3 }, { from: 3, to: 3 })).toBeNull();
});

it("moves on with new points only from the end", () => {
  const grown = { from: 0, to: 1100 };
  expect(followed(null, ALL, grown)).toBeNull();
  expect(followed({ from: 100, to: 200 }, ALL, grown)).toEqual({ from: 100, to: 200 });
  expect(followed({ from: 900, to: 1000 }, ALL, grown)).toEqual({ from: 1000, to: 1100 });
});

it("thins out with its end kept", () => {
  const points = at(...Array.from({ length: 1_001 }, (_, place) => place));
  const some = sampled(points, 100);
  expect(some.length).toBe(100);
  expect(some.at(-1)).toEqual({ time: 1_000, value: 1_000 });
  expect(sampled([0, 1, 2, 3, 4, 5, 6, 7, 8], 3)).toEqual([0, 4, 8]);
  expect(sampled([1, 2], 3)).toEqual([1, 2]);
});
