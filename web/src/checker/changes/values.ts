/** What the fields of a report say, read as the books read them (docs/profit-and-loss.md). */
import { quoted } from "../lines/quoting";

export const PRICES = ["executionPrice", "executed_price", "filled_avg_price"];
export const TIMES = ["executionTime", "executed_time"];
export const FEES = ["fee", "fees"];
export const FILLED_SIZE = "filled_size";
/** All that fills are made of. */
export const COUNTING: ReadonlySet<string> = new Set([
  "symbol",
  "side",
  "size",
  "funds",
  "price",
  "status",
  "multiplier",
  "inverse",
  "instrument",
  "fee_currency",
  FILLED_SIZE,
  ...PRICES,
  ...TIMES,
  ...FEES,
]);
/** Beyond it a number is not known to the last digit here. */
const EXACT = 2 ** 53;
const LARGEST_SECONDS = 5e9;
/** Seconds: what a date may mean that another reader may read otherwise. Then the report is listed. */
const LONG_AGO = 1;
const PLAIN_NUMBER = /^\d+(?:\.\d+)?$/;
const PLAIN_WORD = /^ *[A-Za-z_]* *$/;
const WITH_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** The texts of values by name, as they stand in the file. */
export type Texts = ReadonlyMap<string, string>;

/** A value in a sentence: a text without the quotes of its JSON. */
export function spoken(text: string): string {
  const value: unknown = JSON.parse(text);
  return quoted(typeof value === "string" ? value : text);
}

/** Null unless it is a number that is known exactly. */
export function exactNumber(text: string | undefined): number | null {
  const value: unknown = text === undefined ? null : JSON.parse(text);
  return typeof value === "number" && Math.abs(value) < EXACT ? value : null;
}

/** Whether every reader reads the same word in it. */
export function isPlainWord(text: string | undefined): boolean {
  const value: unknown = text === undefined ? "" : JSON.parse(text);
  return typeof value === "string" && PLAIN_WORD.test(value);
}

export function wordIn(text: string | undefined): string {
  const value: unknown = text === undefined ? null : JSON.parse(text);
  return typeof value === "string" ? value.trim().toLowerCase() : "";
}

/** Every time that a report claims for its fill. */
export function claimed(texts: Texts): number[] {
  return TIMES.map((name) => texts.get(name))
    .filter((text) => text !== undefined)
    .flatMap((text) => moments(JSON.parse(text)))
    .filter((at) => Number.isFinite(at) && at > 0);
}

function moments(value: unknown): number[] {
  if (typeof value === "number") return [inSeconds(value)];
  if (typeof value !== "string") return [];
  if (PLAIN_NUMBER.test(value)) return [inSeconds(Number(value))];
  return WITH_ZONE.test(value) ? [Date.parse(value) / 1000] : [LONG_AGO];
}

function inSeconds(number: number): number {
  let unit = 1;
  while (Number.isFinite(number) && Math.abs(number) / unit > LARGEST_SECONDS) unit *= 1000;
  return number / unit;
}
