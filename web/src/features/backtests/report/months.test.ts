import { expect, it } from "vitest";
import { extremes, ground, strongest, type Year } from "./months";

const year = (number: number, months: (number | null)[]): Year => ({
  year: number,
  value: 0.1,
  months: [...months, ...Array<null>(12 - months.length).fill(null)],
});

it("one wild month does not bleach the others", () => {
  const calm = Array.from({ length: 12 }, () => 0.01);
  expect(strongest([year(2020, calm), year(2021, [...calm.slice(1), 5])])).toBe(0.01);
  expect(strongest([])).toBe(0);
});

it("colours say direction and size, and stay light enough to read on", () => {
  expect(ground(0.05, 0.05)).toBe("color-mix(in oklab, var(--up) 42%, transparent)");
  expect(ground(-9, 0.05)).toBe("color-mix(in oklab, var(--down) 42%, transparent)");
  expect(ground(0, 0.05)).toBe("transparent");
  expect(ground(null, 0.05)).toBe("transparent");
});

it("tells the best and the worst month by name", () => {
  const found = extremes([year(2020, [0.1, -0.2]), year(2021, [0.3, 0])]);
  expect(found.best).toEqual({ name: "Jan 2021", value: 0.3 });
  expect(found.worst).toEqual({ name: "Feb 2020", value: -0.2 });
  expect([found.won, found.lost]).toEqual([2, 1]);
});
