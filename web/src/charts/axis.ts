/** Round moments for a time axis, and how each is written in the chosen zone. */
import { MONTHS, stamp } from "~/format/times";
import { fromWall, offsetAt } from "~/format/zone";
import type { View } from "./panes";

export type Axis = "time" | "start";

export interface Tick {
  time: number;
  text: string;
}

type Unit = "second" | "minute" | "hour" | "day" | "month" | "year";

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];
const [MONTH, YEAR] = [30.4 * DAY, 365.25 * DAY];
/** Steps that people count in, with their length in seconds. */
const STEPS: readonly (readonly [Unit, number, number])[] = [
  ...[1, 2, 5, 10, 15, 30].map((every) => ["second", every, every] as const),
  ...[1, 2, 5, 10, 15, 30].map((every) => ["minute", every, every * MINUTE] as const),
  ...[1, 2, 3, 6, 12].map((every) => ["hour", every, every * HOUR] as const),
  ...[1, 2, 3, 5, 7, 14].map((every) => ["day", every, every * DAY] as const),
  ...[1, 2, 3, 6].map((every) => ["month", every, every * MONTH] as const),
  ...[1, 2, 5, 10, 20, 50, 100].map((every) => ["year", every, every * YEAR] as const),
];

/** At most about `most` ticks within a view, in order. */
export function timeTicks(view: View, most: number, axis: Axis = "time"): Tick[] {
  const rough = (view.to - view.from) / Math.max(1, most);
  const [unit, every, length] = STEPS.find(([, , long]) => long >= rough) ?? ["year", 500, 0];
  if (!(rough > 0)) return [{ time: view.from, text: axisText(view.from, axis) }];
  if (axis === "start") {
    const step = unit === "month" || unit === "year" ? Math.ceil(rough / DAY) * DAY : length;
    return multiples(view, step).map((time) => ({ time, text: axisText(time, axis) }));
  }
  const shown = { from: view.from + offsetAt(view.from), to: view.to + offsetAt(view.to) };
  const walls =
    unit === "month" || unit === "year"
      ? calendar(shown, unit === "year" ? every * 12 : every)
      : multiples(shown, length);
  return written(walls, unit)
    .map(({ time, text }) => ({ time: fromWall(time), text }))
    .filter(({ time }) => time >= view.from && time <= view.to);
}

/** A position on the axis as text: a date, or the time since each curve's start. */
export function axisText(time: number, axis: Axis): string {
  if (axis === "time") return stamp(time);
  const days = time / DAY;
  if (days >= 1 || days === 0) return `day ${Number(days.toFixed(1))}`;
  return time >= HOUR
    ? `${Number((time / HOUR).toFixed(1))} h`
    : `${Math.round(time / MINUTE)} min`;
}

function multiples({ from, to }: View, step: number): number[] {
  const found: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
  return found;
}

/** The first of every so many months. */
function calendar({ from, to }: View, every: number): number[] {
  const start = new Date(from * 1000);
  const found: number[] = [];
  let month = start.getUTCFullYear() * 12 + start.getUTCMonth();
  month = Math.floor(month / every) * every;
  for (;;) {
    const at = startOf(month);
    if (at > to || Number.isNaN(at)) return found;
    if (at >= from) found.push(at);
    month += every;
  }
}

/** The beginning of a month, counted from the year 0: Date.UTC would read 0 to 99 as 1900 to 1999. */
function startOf(month: number): number {
  return new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1) / 1000;
}

/** Short texts, where each larger unit begins its own name, and one says what the rest leave out. */
function written(walls: readonly number[], unit: Unit): Tick[] {
  let isPlaced = unit === "year";
  const ticks = walls.map((time) => {
    const date = new Date(time * 1000);
    const isMajor = beginsLarger(date, unit);
    isPlaced ||= isMajor;
    return { time, text: isMajor ? larger(date, unit) : short(date, unit) };
  });
  const first = ticks[0];
  if (first && !isPlaced) first.text = inFull(new Date(first.time * 1000), unit);
  return ticks;
}

function beginsLarger(date: Date, unit: Unit): boolean {
  if (unit === "month") return date.getUTCMonth() === 0;
  if (unit === "day") return date.getUTCMonth() === 0 && date.getUTCDate() === 1;
  return unit !== "year" && date.getTime() % (DAY * 1000) === 0;
}

function larger(date: Date, unit: Unit): string {
  return unit === "month" || unit === "day" ? String(date.getUTCFullYear()) : short(date, "day");
}

function short(date: Date, unit: Unit): string {
  const month = MONTHS[date.getUTCMonth()] ?? "";
  if (unit === "year") return String(date.getUTCFullYear());
  if (unit === "month") return month;
  if (unit === "day") return `${date.getUTCDate()} ${month}`;
  return date.toISOString().slice(-13, unit === "second" ? -5 : -8);
}

function inFull(date: Date, unit: Unit): string {
  if (unit === "month" || unit === "day") return `${short(date, unit)} ${date.getUTCFullYear()}`;
  return `${short(date, "day")} ${short(date, unit)}`;
}
