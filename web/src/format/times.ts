/** Times in the chosen time zone, and in UTC where it must be exact. */
import { fromWall, tellingOffset, wall } from "./zone";

export type Moment = number | null | undefined;

const DAY = 86_400;

/** Only the time for today, without the year for this year. */
export function when(seconds: Moment, now = Date.now() / 1000): string {
  if (seconds == null) return "\u2013";
  const [date, today] = [wall(seconds), wall(now)];
  if (Number.isNaN(date.getTime())) return utc(seconds);
  const time = told(date, seconds);
  if (isSameDay(date, today)) return time;
  const isThisYear = date.getUTCFullYear() === today.getUTCFullYear();
  const year = isThisYear ? "" : ` ${date.getUTCFullYear()}`;
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}${year} ${time}`;
}

/** Always with the date, for tables that span days. */
export function stamp(seconds: Moment): string {
  if (seconds == null) return "\u2013";
  const date = wall(seconds);
  if (Number.isNaN(date.getTime())) return utc(seconds);
  return `${dayOf(date)} ${told(date, seconds)}`;
}

export function utc(seconds: number): string {
  const text = machine(seconds);
  return text ? `${text.slice(0, -14)} ${text.slice(-13, -1)} UTC` : `${seconds} s since 1970`;
}

/** ISO 8601 for programs. Undefined for a time outside the calendar, which a model may send. */
export function machine(seconds: number): string | undefined {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** The time of a log line, with milliseconds, and with the date unless it is today. */
export function precise(seconds: number, now = Date.now() / 1000): string {
  const date = wall(seconds);
  if (Number.isNaN(date.getTime())) return utc(seconds);
  const day = isSameDay(date, wall(now)) ? "" : `${dayOf(date)} `;
  const parts = String(date.getUTCMilliseconds()).padStart(3, "0");
  return `${day}${clock(date)}.${parts}${offsetOf(seconds)}`;
}

export function ago(seconds: Moment, now = Date.now() / 1000): string {
  if (seconds == null) return "never";
  const passed = Math.max(0, now - seconds);
  if (passed < 5) return "just now";
  return `${lasting(passed)} ago`;
}

/** A duration in its largest unit, or its two largest where the second still matters. */
export function lasting(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < DAY)
    return pair(Math.floor(whole / 3600), "h", Math.floor((whole % 3600) / 60), "min");
  if (whole < 30 * DAY)
    return pair(Math.floor(whole / DAY), "d", Math.floor((whole % DAY) / 3600), "h");
  if (whole < 365 * DAY) return `${Math.floor(whole / DAY)} d`;
  return pair(
    Math.floor(whole / (365 * DAY)),
    "y",
    Math.floor((whole % (365 * DAY)) / (30 * DAY)),
    "mo",
  );
}

/** The value of a `datetime-local` field, read in the chosen zone, in seconds. */
export function fromLocal(text: string): number | null {
  const parsed = Date.parse(/:\d\d/.test(text) ? `${text}Z` : text);
  return Number.isNaN(parsed) ? null : fromWall(parsed / 1000);
}

export const MONTHS = [
  "Jan",
  "Feb",
  "Mar",
  "Apr",
  "May",
  "Jun",
  "Jul",
  "Aug",
  "Sep",
  "Oct",
  "Nov",
  "Dec",
];

function pair(first: number, unit: string, second: number, smaller: string): string {
  return second && first < 10 ? `${first} ${unit} ${second} ${smaller}` : `${first} ${unit}`;
}

function isSameDay(one: Date, other: Date): boolean {
  return one.toISOString().slice(0, -14) === other.toISOString().slice(0, -14);
}

function dayOf(date: Date): string {
  return `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
}

/** With its offset where clocks show the same time twice. */
function told(date: Date, seconds: number): string {
  return `${clock(date)}${offsetOf(seconds)}`;
}

function offsetOf(seconds: number): string {
  const offset = tellingOffset(seconds);
  return offset && ` ${offset}`;
}

function clock(date: Date): string {
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
