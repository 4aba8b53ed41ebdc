/** Tables as CSV, as the server writes its own: no text is a formula of a spreadsheet, times have the chosen zone. */
import { offsetAt, wall } from "./zone";

export type Cell = string | number | boolean | null | undefined;

/** A text that begins like this would be a formula in a spreadsheet. */
const FORMULA = /^[=+\-@\t\r]/;
const QUOTED = /[",\n\r]/;

export function csvOf(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [heads, ...rows].map((row) => `${row.map(written).join(",")}\n`).join("");
}

/** With the offset of the chosen zone: 2026-11-16T22:00:00+01:00. */
export function dated(seconds: number | null | undefined): string {
  if (seconds == null) return "";
  const shown = wall(seconds);
  if (Number.isNaN(shown.getTime())) return "";
  const offset = offsetAt(seconds) / 60;
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const ahead = `${offset < 0 ? "-" : "+"}${two(Math.abs(offset) / 60)}:${two(Math.abs(offset) % 60)}`;
  return `${shown.toISOString().slice(0, -5)}${ahead}`;
}

function written(cell: Cell): string {
  if (cell == null) return "";
  if (typeof cell !== "string") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
