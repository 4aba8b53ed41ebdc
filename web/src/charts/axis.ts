/** Labels of a time axis in the reader's zone. The numbers are the chart library's kinds of ticks. */
import { stamp } from "~/format/times";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export function axisLabel(seconds: number, kind: number): string {
  const date = new Date(seconds * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  if (kind === 0) return String(date.getFullYear());
  if (kind === 1) return MONTHS[date.getMonth()] ?? "";
  if (kind === 2) return `${date.getDate()} ${MONTHS[date.getMonth()]}`;
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return kind === 4 ? `${minutes}:${two(date.getSeconds())}` : minutes;
}

/** A position on the axis as text: a date, or the time since each curve's start. */
export function axisText(time: number, align: "time" | "start"): string {
  if (align === "time") return stamp(time);
  const days = time / 86_400;
  return days >= 1 || days === 0 ? `day ${Math.floor(days)}` : `${Math.round(time / 60)} min`;
}
