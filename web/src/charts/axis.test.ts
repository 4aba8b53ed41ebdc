import { afterEach, expect, it } from "vitest";
import { setZone } from "~/format/zone";
import { axisText, timeTicks } from "./axis";

const at = (text: string) => Date.parse(text) / 1000;
const texts = (from: string, to: string, most = 6) =>
  timeTicks({ from: at(from), to: at(to) }, most).map(({ text }) => text);

afterEach(() => setZone("local"));

it("names moments of both axes", () => {
  expect(axisText(3 * 86_400, "start")).toBe("day 3");
  expect(axisText(600, "start")).toBe("10 min");
  expect(timeTicks({ from: 0, to: 10 * 86_400 }, 5, "start").map(({ text }) => text)).toEqual([
    "day 0", "day 2", "day 4", "day 6", "day 8", "day 10",
  ]); // biome-ignore format: one line
});

it("begins each day, year and month with its name, in the chosen zone", () => {
  setZone("utc");
  expect(texts("2026-11-01T20:00Z", "2026-11-02T04:00Z", 4)).toEqual([
    "20:00", "22:00", "2 Nov", "02:00", "04:00",
  ]); // biome-ignore format: one line
  expect(texts("2025-11-15", "2026-03-15", 5)).toEqual(["Dec", "2026", "Feb", "Mar"]);
  setZone("America/New_York");
  expect(texts("2026-11-02T03:30Z", "2026-11-02T06:30Z", 3)).toEqual(["23:00", "2 Nov", "01:00"]);
});

it("says in its first label what the others leave out", () => {
  setZone("utc");
  expect(texts("2026-11-15T12:00:00Z", "2026-11-15T12:40:00Z", 4)[0]).toBe("15 Nov 12:00");
  expect(texts("2026-03-02", "2026-03-09", 4)[0]).toMatch(/Mar 2026$/);
});

it("keeps days at midnight when summer time begins", () => {
  setZone("Europe/Berlin");
  const ticks = timeTicks({ from: at("2026-03-27T12:00Z"), to: at("2026-03-31T12:00Z") }, 5);
  expect(ticks.map(({ time }) => new Date(time * 1000).toISOString().slice(5, 16))).toEqual([
    "03-27T23:00", "03-28T23:00", "03-29T22:00", "03-30T22:00",
  ]); // biome-ignore format: one line
});

it("has ticks for an instant, for seconds and for centuries", () => {
  setZone("utc");
  expect(timeTicks({ from: 5, to: 5 }, 4)).toHaveLength(1);
  expect(texts("2026-01-01T00:00:01Z", "2026-01-01T00:00:05Z", 4)[0]).toBe("1 Jan 00:00:01");
  expect(timeTicks({ from: -5e9, to: 5e9 }, 4).length).toBeLessThan(9);
});
