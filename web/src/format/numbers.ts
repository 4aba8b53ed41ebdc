/** Numbers as traders read them: as many digits as matter, signed where it counts. */

const MINUS = "\u2212";
const NOTHING = "\u2013";

/** Currencies shown with two decimals; others are shown with more where it matters. */
const TWO_DIGITS = new Set([
  "USD",
  "EUR",
  "GBP",
  "CHF",
  "AUD",
  "CAD",
  "NZD",
  "USDT",
  "USDC",
  "BUSD",
]);

/** Enough for what exchanges quote (112.578125, 151.12345). */
const DIGITS_OF_A_PRICE = 10;
/** A mean of different prices, which has no tick. */
const DIGITS_OF_AN_AVERAGE = 6;
/** Of a size that is far below 1. */
const DIGITS_OF_A_SIZE = 6;
const MOST_DECIMALS = 20;
/** Of an amount below 1 whose currency nobody knows: it may be dollars or bitcoins. */
const DIGITS_OF_AN_AMOUNT = 4;
/** The smallest part of a bitcoin; what is below it is the noise of sums. */
const DECIMALS_OF_A_COIN = 8;
/** What nobody reads digit by digit: 1.2e305 stands for it. A model may report any number. */
const ABSURD = 1e24;

export type Figure = number | null | undefined;

export function integer(value: Figure): string {
  return isNumber(value) ? typographic(plain(0, 0).format(value)) : NOTHING;
}

/** A size: the more decimals, the smaller it is. */
export function quantity(value: Figure): string {
  if (!isNumber(value)) return NOTHING;
  const magnitude = Math.abs(value);
  const small = Math.max(8, decimals(value, DIGITS_OF_A_SIZE));
  const most = magnitude === 0 ? 0 : magnitude >= 1000 ? 2 : magnitude >= 1 ? 4 : small;
  return typographic(plain(magnitude >= 1000 ? 2 : 0, most).format(value));
}

/** With the digits that it came with, unless those are the noise of an average. */
export function price(value: Figure): string {
  if (!isNumber(value)) return NOTHING;
  const own = (value.toExponential().split("e")[0] ?? "").replace(/\D/g, "").length;
  const kept = own > DIGITS_OF_A_PRICE ? DIGITS_OF_AN_AVERAGE : DIGITS_OF_A_PRICE;
  return typographic(plain(2, decimals(value, kept)).format(value));
}

/** A ratio with two decimals, or more if two would round it to zero. */
export function ratio(value: Figure): string {
  if (!isNumber(value)) return NOTHING;
  const size = Math.abs(value);
  return typographic(plain(2, size === 0 || size >= 0.1 ? 2 : size >= 0.001 ? 4 : 6).format(value));
}

/** A duration in a unit that fits: a record may cover an hour or ten years. */
export function days(count: Figure): string {
  if (!isNumber(count)) return NOTHING;
  if (count >= 100) return `${integer(count)} days`;
  if (count >= 2) return `${trimmed(count)} days`;
  const hours = count * 24;
  if (hours >= 1) return `${trimmed(hours)} h`;
  const minutes = hours * 60;
  return minutes >= 1 || minutes === 0 ? `${trimmed(minutes)} min` : `${trimmed(minutes * 60)} s`;
}

export function money(value: Figure, currency: string | null | undefined): string {
  return isNumber(value) ? `${amount(value, currency)}${unit(currency)}` : NOTHING;
}

/** Money with its sign, for gains and losses. */
export function gain(value: Figure, currency: string | null | undefined): string {
  return isNumber(value) ? `${signedAmount(value, currency)}${unit(currency)}` : NOTHING;
}

/** Money with the digits of its currency but not its name, where that is said once for all. */
export function amount(value: Figure, currency: string | null | undefined): string {
  return isNumber(value) ? typographic(digits(value, currency).format(value)) : NOTHING;
}

export function signedAmount(value: Figure, currency: string | null | undefined): string {
  const text = amount(value, currency);
  return isNumber(value) && value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** Of what counts in hundreds: percents, and an index. */
export function hundredths(value: Figure): string {
  return isNumber(value) ? typographic(plain(2, 2).format(value)) : NOTHING;
}

export function percent(share: Figure): string {
  return isNumber(share) ? typographic(`${plain(2, 2).format(share * 100)} %`) : NOTHING;
}

export function bytes(count: Figure): string {
  if (!isNumber(count)) return NOTHING;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let rest = count;
  let step = 0;
  while (rest >= 1000 && step < units.length - 1) {
    rest /= 1000;
    step += 1;
  }
  return `${plain(0, rest < 10 && step > 0 ? 1 : 0).format(rest)} ${units[step]}`;
}

/** Megabytes of a plan. */
export function memory(megabytes: number): string {
  return megabytes >= 1024 ? `${plain(0, 1).format(megabytes / 1024)} GB` : `${megabytes} MB`;
}

export function cores(value: Figure): string {
  if (!isNumber(value)) return NOTHING;
  return `${plain(value < 10 ? 2 : 0, value < 10 ? 2 : 0).format(value)} cores`;
}

/** Where there is little room: below 1 two digits that count. Of values that are a `step` apart, as
 * many as tell them apart. */
export function compact(value: number, step?: number): string {
  const precision =
    step !== undefined
      ? { maximumFractionDigits: decimalsOfStep(value, step) }
      : Math.abs(value) < 1
        ? { maximumSignificantDigits: 2 }
        : { maximumFractionDigits: 1 };
  return typographic(
    new Intl.NumberFormat("en", { notation: "compact", ...precision }).format(value),
  );
}

/** In thousands, millions and so on where the value is written so. */
function decimalsOfStep(value: number, step: number): number {
  if (!(step > 0)) return 1;
  const thousands = Math.floor(Math.log10(Math.max(1, Math.abs(value))) / 3);
  const unit = 1000 ** Math.min(4, thousands);
  const place = Math.floor(Math.log10(step / unit) + 1e-9);
  return Math.min(MOST_DECIMALS, Math.max(1, -place));
}

/** The direction of a value after rounding, so that "0.00" is neither a gain nor a loss. */
export function direction(value: Figure, currency?: string | null): "up" | "down" | "flat" {
  const text = gain(value, currency);
  return text.startsWith("+") ? "up" : text.startsWith(MINUS) ? "down" : "flat";
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${integer(count)} ${count === 1 ? one : many}`;
}

function trimmed(value: number): string {
  return typographic(plain(0, 1).format(value));
}

/** The decimals that so many significant digits need. */
function decimals(value: number, digits: number): number {
  const exponent = Number(value.toExponential().split("e")[1]);
  return Math.min(MOST_DECIMALS, digits - 1 - exponent);
}

function digits(value: number, currency: string | null | undefined): Format {
  const magnitude = Math.abs(value);
  if (currency && TWO_DIGITS.has(currency)) return plain(2, 2);
  if (currency) return plain(2, magnitude >= 100 ? 2 : magnitude >= 1 ? 4 : DECIMALS_OF_A_COIN);
  if (magnitude >= 1) return plain(2, 2);
  return plain(2, Math.min(DECIMALS_OF_A_COIN, decimals(value, DIGITS_OF_AN_AMOUNT)));
}

function unit(currency: string | null | undefined): string {
  return currency ? `\u00a0${currency}` : "";
}

interface Format {
  format: (value: number) => string;
}

const made = new Map<string, Format>();

function plain(least: number, most: number): Format {
  const key = `${least} ${most}`;
  let found = made.get(key);
  if (!found) {
    const exact = new Intl.NumberFormat("en", {
      minimumFractionDigits: least,
      maximumFractionDigits: Math.max(least, most),
    });
    found = {
      format: (value) => (Math.abs(value) >= ABSURD ? short(value) : exact.format(value)),
    };
    made.set(key, found);
  }
  return found;
}

function short(value: number): string {
  if (!Number.isFinite(value)) return value < 0 ? "-∞" : "∞";
  return value.toExponential(2).replace(/\.?0*e\+/, "e");
}

/** With a real minus; one before nothing is left out. */
function typographic(text: string): string {
  return text.replace("-", /[1-9∞]/.test(text) ? MINUS : "");
}

function isNumber(value: Figure): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
