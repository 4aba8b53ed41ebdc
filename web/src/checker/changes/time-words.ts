/** Times and lengths of time in words. */

const SIZES = [
  [86_400, "days"],
  [3_600, "hours"],
  [60, "minutes"],
] as const;

export function moment(at: number): string {
  const date = new Date(at * 1000);
  if (Number.isNaN(date.getTime())) return String(at);
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

export function length(seconds: number): string {
  for (const [size, unit] of SIZES) {
    if (seconds >= size) return `${(seconds / size).toFixed(1)} ${unit}`;
  }
  return `${Math.round(seconds)} seconds`;
}
