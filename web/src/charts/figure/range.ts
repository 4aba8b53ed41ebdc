/** What a chart shows, as text for the address: a range of the newest data or between two moments, and
 * a marked moment: `1W`, `1767225600_1767312000` or `1767225600_1767312000@1767240000`. */
import type { View } from "../panes";

const DAY = 86_400;
/** Names of ranges that end with the newest point, what they say, and their seconds. */
export const RANGES: readonly (readonly [string, string, number])[] = [
  ["1H", "The last hour", DAY / 24],
  ["1D", "The last day", DAY],
  ["1W", "The last week", 7 * DAY],
  ["1M", "The last month", 30 * DAY],
  ["3M", "The last three months", 91 * DAY],
  ["1Y", "The last year", 365 * DAY],
];

export interface Shown {
  /** The name of a range, or one between two moments; null shows what the chart begins with. */
  range: string | View | null;
  moment: number | null;
}

const NUMBER = String.raw`-?\d{1,12}(?:\.\d{1,3})?`;
const FORM = new RegExp(
  `^(?:(${RANGES.map(([name]) => name).join("|")}|All)|(${NUMBER})_(${NUMBER}))?(?:@(${NUMBER}))?$`,
);

/** Anything that is not such a text shows what the chart begins with. */
export function shownBy(text: string): Shown {
  const [, name, from, to, moment] = FORM.exec(text) ?? [];
  const between = from !== undefined && Number(from) < Number(to);
  return {
    range: name ?? (between ? { from: Number(from), to: Number(to) } : null),
    moment: moment === undefined ? null : Number(moment),
  };
}

export function textOf({ range, moment }: Shown): string {
  const said =
    range === null || typeof range === "string"
      ? (range ?? "")
      : `${written(range.from, range)}_${written(range.to, range)}`;
  const span = range !== null && typeof range !== "string" ? range : null;
  return moment === null ? said : `${said}@${written(moment, span)}`;
}

/**
 * The range as two moments, of a chart with data from `all.from` to `all.to`; null is everything, also
 * where a range has no data.
 */
export function viewOf(range: string | View, all: View): View | null {
  if (typeof range !== "string") return range.to > all.from && range.from < all.to ? range : null;
  const seconds = RANGES.find(([name]) => name === range)?.[2];
  return seconds === undefined ? null : { from: all.to - seconds, to: all.to };
}

/** Whole seconds, unless a short range needs more. */
function written(time: number, range: View | null): string {
  const digits = range && range.to - range.from < 100 ? 3 : 0;
  return String(Number(time.toFixed(digits)));
}
