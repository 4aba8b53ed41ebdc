/** Gains and losses, buys and sells. Colour only repeats the sign or the symbol. */
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

/** `brief` hides the word on phones, except from screen readers. */
export function Side({ side, brief = false }: { side: string; brief?: boolean }) {
  const isBuy = side.toLowerCase() === "buy";
  return (
    <span
      className={`inline-flex items-center gap-1 font-medium ${isBuy ? "text-up" : "text-down"}`}
    >
      <span aria-hidden="true">{isBuy ? "▲" : "▼"}</span>
      <span className={brief ? "max-md:sr-only" : ""}>{isBuy ? "Buy" : "Sell"}</span>
    </span>
  );
}
