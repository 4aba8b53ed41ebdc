/** Round numbers for a value axis, written in one unit. The server's charts follow the same examples. */

export type Scale = "number" | "percent" | "price";

const STEPS = [1, 2, 2.5, 5, 10];
const UNITS: readonly (readonly [number, string])[] = [
  [1e12, "T"],
  [1e9, "B"],
  [1e6, "M"],
];
/** Values closer together than this share of their size differ by rounding only. */
const NOISE = 1e-12;
const TINIEST = 1e-290;

export interface Extent {
  low: number;
  high: number;
}

/** Room around a curve that is flat, so that its axis has different ticks. */
export function spread({ low, high }: Extent): Extent {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  if (high - low > Math.max(largest * NOISE, TINIEST)) return { low, high };
  const room = largest > TINIEST ? largest * 0.01 : 1;
  return { low: low - room, high: high + room };
}

/** At most about `most` round numbers within an extent. */
export function valueTicks({ low, high }: Extent, most: number): number[] {
  const rough = (high - low) / Math.max(1, most);
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = (STEPS.find((one) => one * size >= rough * (1 - 1e-9)) ?? 10) * size;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * step || 0);
}

/** Every tick in the same unit, with just enough digits to differ from its neighbours. */
export function tickTexts(ticks: readonly number[], scale: Scale): string[] {
  const factor = scale === "percent" ? 100 : 1;
  const step = ticks.length > 1 ? ((ticks[1] ?? 0) - (ticks[0] ?? 0)) * factor : 0;
  const largest = Math.max(0, ...ticks.map(Math.abs)) * factor;
  const [size, letter] = (scale === "number" &&
    UNITS.find(([one]) => largest >= one && step >= one / 1000)) || [1, ""];
  const digits = digitsOf(step / size);
  const format = new Intl.NumberFormat("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const unit = scale === "percent" ? " %" : letter;
  return ticks.map((tick) => {
    const text = format.format((tick * factor) / size);
    const signed = /[1-9]/.test(text) ? text.replace("-", "\u2212") : text.replace("-", "");
    return `${signed}${unit}`;
  });
}

function digitsOf(step: number): number {
  let digits = 0;
  while (digits < 12 && Math.abs(Number(step.toFixed(digits)) - step) > step / 1000) digits += 1;
  return digits;
}
