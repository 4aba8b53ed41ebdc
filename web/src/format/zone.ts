/** The time zone in which every page writes times: the reader's, UTC, or that of an exchange. */

/** "local", "utc", or the name of a zone such as "America/New_York". */
export type Zone = string;

const QUARTER = 900;
/** Clocks are set back by less than this, in seconds. */
const AROUND = 3 * 3600;
const watchers = new Set<() => void>();
const formats = new Map<string, Intl.DateTimeFormat>();
/** Offsets change on the quarter hour at most, and asking for one is slow. */
const offsets = new Map<string, number>();
let current: Zone = "local";

export function zone(): Zone {
  return current;
}

export function setZone(next: Zone): void {
  if (next === current || !isZone(next)) return;
  current = next;
  for (const watcher of watchers) watcher();
}

export function watchZone(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function isZone(name: unknown): name is Zone {
  if (name === "local" || name === "utc") return true;
  if (typeof name !== "string" || !name.includes("/")) return false;
  try {
    return Boolean(formatOf(name));
  } catch {
    return false;
  }
}

/** The name that programs know, also of the reader's own zone. */
export function zoneName(of: Zone = current): string {
  if (of === "utc") return "UTC";
  return of === "local" ? new Intl.DateTimeFormat().resolvedOptions().timeZone : of;
}

/** The zone in a few letters: "UTC", "New York", "Berlin". */
export function zoneLabel(of: Zone = current): string {
  return (zoneName(of).split("/").at(-1) ?? "").replaceAll("_", " ");
}

/** For the server's own pages and files, which cannot know the reader's zone. */
export function withZone(address: string): string {
  const named = `zone=${encodeURIComponent(zoneName())}`;
  return `${address}${address.includes("?") ? "&" : "?"}${named}`;
}

/** Seconds that clocks there are ahead of UTC. */
export function offsetAt(seconds: number): number {
  if (current === "utc") return 0;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return 0;
  if (current === "local") return -date.getTimezoneOffset() * 60;
  const quarter = Math.floor(seconds / QUARTER);
  const key = `${current} ${quarter}`;
  let found = offsets.get(key);
  if (found === undefined) {
    if (offsets.size > 50_000) offsets.clear();
    found = offsetOf(current, quarter * QUARTER);
    offsets.set(key, found);
  }
  return found;
}

/** A moment as its clocks show it: read the result with the UTC methods of Date. */
export function wall(seconds: number): Date {
  return new Date((seconds + offsetAt(seconds)) * 1000);
}

/**
 * The offset of a moment whose time of day comes twice, as on the night when summer time ends:
 * "+02:00"; empty for all others.
 */
export function tellingOffset(seconds: number): string {
  const own = offsetAt(seconds);
  const isTwice = [seconds - AROUND, seconds + AROUND].some((near) => {
    const other = offsetAt(near);
    return other !== own && offsetAt(seconds + own - other) === other;
  });
  if (!isTwice) return "";
  const minutes = Math.abs(own) / 60;
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  return `${own < 0 ? "\u2212" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** The moment at which clocks show so many seconds since 1970; of two, the earlier. */
export function fromWall(shown: number): number {
  const guess = shown - offsetAt(shown);
  return shown - offsetAt(guess);
}

function offsetOf(name: string, seconds: number): number {
  const parts = formatOf(name).formatToParts(seconds * 1000);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  const shown = Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
  return shown / 1000 - seconds;
}

function formatOf(name: string): Intl.DateTimeFormat {
  let found = formats.get(name);
  if (!found) {
    found = new Intl.DateTimeFormat("en", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(name, found);
  }
  return found;
}
