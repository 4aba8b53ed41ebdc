/** How long a backtest took to run, and the market period it covers. */
import { lasting, stamp } from "~/format/times";

export function elapsed(seconds: number): string {
  return seconds < 1 ? "under 1 s" : lasting(seconds);
}

/** The dates of the market data, not of the computation. */
export function period(start: unknown, stop: unknown): string {
  const day = (moment: unknown) =>
    typeof moment === "number"
      ? stamp(moment).slice(0, 10)
      : typeof moment === "string"
        ? moment.slice(0, 10)
        : "";
  const [from, to] = [day(start), day(stop)];
  return from && to && from !== to ? `${from} to ${to}` : from || to;
}

/** The different periods of some backtests, each once. */
export function periodsOf(
  some: readonly { start_time?: unknown; stop_time?: unknown }[],
): string[] {
  const all = some.map((one) => period(one.start_time, one.stop_time));
  return [...new Set(all.filter(Boolean))];
}
