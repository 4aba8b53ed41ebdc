/** Figures that are won or lost: the sign says it, the colour only repeats it. */
import { direction, type Figure, gain } from "~/format/numbers";

const COLOURS = { up: "text-up", down: "text-down", flat: "text-ink" } as const;

export function Gain({
  value,
  currency,
  className = "",
}: {
  value: Figure;
  currency?: string | null;
  className?: string;
}) {
  const way = direction(value, currency);
  return (
    <span className={`num whitespace-nowrap ${COLOURS[way]} ${className}`}>
      {gain(value, currency)}
    </span>
  );
}

export function Side({ side }: { side: string }) {
  const isBuy = side.toLowerCase() === "buy";
  return (
    <span
      className={`inline-flex items-center gap-1 font-medium ${isBuy ? "text-up" : "text-down"}`}
    >
      <span aria-hidden="true">{isBuy ? "▲" : "▼"}</span>
      {isBuy ? "Buy" : "Sell"}
    </span>
  );
}
