import { afterEach, expect, it } from "vitest";
import { stamp } from "./times";
import { fromWall, isZone, offsetAt, setZone, zoneLabel, zoneName } from "./zone";

const NIGHT = Date.UTC(2026, 6, 1) / 1000;

afterEach(() => setZone("local"));

it("writes one moment as the clocks of the chosen zone show it", () => {
  setZone("utc");
  expect(stamp(NIGHT)).toBe("2026-07-01 00:00:00");
  setZone("America/New_York");
  expect(stamp(NIGHT)).toBe("2026-06-30 20:00:00");
  expect(zoneLabel()).toBe("New York");
  setZone("Asia/Kolkata");
  expect(stamp(NIGHT)).toBe("2026-07-01 05:30:00");
});

it("knows summer time, and the moment behind a clock", () => {
  setZone("America/New_York");
  const winter = Date.UTC(2026, 0, 1) / 1000;
  expect([offsetAt(NIGHT), offsetAt(winter)]).toEqual([-4 * 3600, -5 * 3600]);
  for (const moment of [NIGHT, winter]) expect(fromWall(moment + offsetAt(moment))).toBe(moment);
});

it("refuses names that no clock has", () => {
  expect(["local", "utc", "Europe/London"].every(isZone)).toBe(true);
  expect(["", "EST", "Mars/Base", 5, undefined].some(isZone)).toBe(false);
  setZone("Mars/Base");
  expect(zoneName()).toBe(zoneName("local"));
});
