import { expect, it } from "vitest";
import { drawdownInWords, equityInWords, outline } from "./curve-words";

it("outlines a curve, gaps left out", () => {
  const points = [
    { time: 1, value: 10 },
    { time: 2, value: null },
    { time: 3, value: 5 },
    { time: 4, value: 12 },
  ];
  expect(outline(points)).toMatchObject({
    first: 10,
    last: 12,
    low: { time: 3 },
    high: { time: 4 },
  });
  expect(equityInWords(points, String)).toContain("from 10 to 12 (+20.00 %)");
  expect(equityInWords([], String)).toBe("There are no account values.");
  expect(drawdownInWords([{ time: 0, value: 0 }])).toContain("never fell");
  expect(
    drawdownInWords([
      { time: 0, value: -0.5 },
      { time: 1, value: 0 },
    ]),
  ).toContain("at its high");
});
