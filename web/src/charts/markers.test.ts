import { describe, expect, it } from "vitest";
import { bucketed, counted } from "./markers";

const order = (time: number, side: string) => ({ id: `${side}-${time}`, time, side });

describe("orders on a chart", () => {
  it("stand alone where there is room", () => {
    const found = bucketed([order(0, "buy"), order(50, "sell"), order(100, "BUY")], {
      from: 0,
      to: 100,
      width: 900,
    });
    expect(found.map(({ side, count }) => [side, count])).toEqual([
      ["buy", 1],
      ["sell", 1],
      ["buy", 1],
    ]);
  });
  it("share a place with those of their side alone, so no side disappears", () => {
    const many = Array.from({ length: 2_000 }, (_, at) => order(at, at % 2 ? "sell" : "buy"));
    const found = bucketed(many, { from: 0, to: 1_999, width: 300 }, 30);
    expect(found.length).toBeLessThanOrEqual(22);
    const sells = found.filter(({ side }) => side === "sell").length;
    expect(Math.abs(found.length - 2 * sells)).toBeLessThanOrEqual(1);
    expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(2_000);
  });
  it("are in order of time and leave out what is not in view", () => {
    const found = bucketed([order(90, "buy"), order(10, "sell"), order(200, "buy")], {
      from: 0,
      to: 100,
      width: 500,
    });
    expect(found.map(({ time }) => time)).toEqual([10, 90]);
  });
  it("of one moment are one mark a side", () => {
    const found = bucketed([order(5, "buy"), order(5, "buy"), order(5, "sell")], {
      from: 5,
      to: 5,
      width: 500,
    });
    expect(found.map(({ side, count }) => [side, count])).toEqual([
      ["buy", 2],
      ["sell", 1],
    ]);
  });
  it("that the server counted are added up, and said to be more where they are", () => {
    const view = { from: 0, to: 100, width: 300 };
    const some = { time: 10, side: "buy", count: 1_500 };
    const [mark] = bucketed([some, { ...some, time: 12, count: 2_000, more: true }], view, 100);
    expect(mark && [mark.time, mark.count, counted(mark)]).toEqual([12, 3_500, "3.5K+"]);
    expect(counted({ count: 1, more: false })).toBe("");
  });
  it("need a chart with a width", () => {
    expect(bucketed([order(5, "buy")], { from: 0, to: 10, width: 0 })).toEqual([]);
  });
});
