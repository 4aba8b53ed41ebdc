import { afterEach, expect, it } from "vitest";
import { stamp } from "./times";
import { fromWall, isZone, offsetAt, setZone, tellingOffset, zoneLabel, zoneName } from "./zone";

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

it("tells the two hours apart that clocks show when summer time ends", () => {
  setZone("Europe/Berlin");
  const first = Date.UTC(2026, 9, 25, 0, 30) / 1000;
  expect([first - 3600, first, first + 3600, first + 7200].map(stamp)).toEqual([
    "2026-10-25 01:30:00",
    "2026-10-25 02:30:00 +02:00",
    "2026-10-25 02:30:00 +01:00",
    "2026-10-25 03:30:00",
  ]);
  const [before, after] = [first - 86_400, Date.UTC(2026, 2, 29, 1) / 1000];
  expect([before, after - 1, after].map(tellingOffset)).toEqual(["", "", ""]);
  setZone("America/New_York");
  expect(tellingOffset(Date.UTC(2026, 10, 1, 6, 30) / 1000)).toBe("\u221205:00");
});

it("refuses names that no clock has", () => {
  expect(["local", "utc", "Europe/London"].every(isZone)).toBe(true);
  expect(["", "EST", "Mars/Base", 5, undefined].some(isZone)).toBe(false);
  setZone("Mars/Base");
  expect(zoneName()).toBe(zoneName("local"));
});
