/** One of the compared backtests: the same name and colour in the chart and in every table. */

export interface Column {
  id: string;
  name: string;
  colour: string;
}

export function Swatch({ colour }: { colour: string }) {
  return (
    <span
      aria-hidden="true"
      className="inline-block size-2.5 shrink-0 rounded-sm"
      style={{ backgroundColor: `var(--${colour})` }}
    />
  );
}
