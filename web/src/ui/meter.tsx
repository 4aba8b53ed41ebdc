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
