/** Gains and losses, buys and sells, and how much is taken. Colour only repeats what is said. */
import { direction, type Figure, gain, signedAmount } from "~/format/numbers";

const COLOURS = { up: "text-up", down: "text-down", flat: "text-ink" } as const;

/** `named={false}` leaves out the name of the currency, where it is said once for all. */
export function Gain({
  value,
  currency,
  named = true,
  className = "",
}: {
  value: Figure;
  currency: string | null | undefined;
  named?: boolean;
  className?: string;
}) {
  const way = direction(value, currency);
  return (
    <span className={`num whitespace-nowrap ${COLOURS[way]} ${className}`}>
      {named ? gain(value, currency) : signedAmount(value, currency)}
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

/** How much of something is taken, as text with a bar below it. */
export function Meter({
  used,
  most,
  text,
}: {
  used: number | null;
  most: number | null;
  text: string;
}) {
  const share = used !== null && most ? Math.min(1, used / most) : null;
  return (
    <span className="block">
      {text}
      {share !== null && (
        <span aria-hidden="true" className="mt-1 block h-1 overflow-hidden rounded-full bg-hover">
          <span
            className={`block h-full rounded-full ${share > 0.9 ? "bg-bad" : "bg-accent"}`}
            style={{ width: `${Math.max(2, share * 100)}%` }}
          />
        </span>
      )}
    </span>
  );
}
