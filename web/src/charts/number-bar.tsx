/** A bar that repeats a number beside it; the zero line is where all bars of a table begin. */
import type { Bar as Place } from "./number-bars";

export function Bar({
  place,
  tone,
  className = "",
}: {
  place: Place | null;
  tone: "up" | "down" | "accent";
  className?: string;
}) {
  const grounds = { up: "bg-up", down: "bg-down", accent: "bg-accent" };
  return (
    <span
      aria-hidden="true"
      className={`relative block h-1.5 overflow-hidden rounded-full bg-sunken ${className}`}
    >
      {place && place.width > 0 && (
        <span
          className={`absolute inset-y-0 rounded-full ${grounds[tone]}`}
          style={{ left: `${place.left}%`, width: `max(${place.width}%, 2px)` }}
        />
      )}
    </span>
  );
}
