/** The symbol, interval and shape of a price chart. */
import { Choice, type Option } from "~/ui/select";
import { INTERVALS } from "./price-search";

export type Shape = "candles" | "line";

const WIDTHS: readonly Option[] = [["", "Finest"], ...INTERVALS];
const SHAPES: readonly Option[] = [
  ["candles", "Candles"],
  ["line", "Line"],
];

export function PriceChoices({
  symbols,
  symbol,
  interval,
  shape,
  change,
}: {
  symbols: readonly string[];
  symbol: string;
  /** Empty is the finest. */
  interval: string;
  shape: Shape;
  change: (next: { symbol?: string; interval?: string; shape?: string }) => void;
}) {
  return (
    <div className="flex min-w-0 flex-wrap gap-2">
      <Choice
        label="Symbol"
        className="max-w-full sm:max-w-72"
        value={symbol}
        options={symbols}
        choose={(next) => change({ symbol: next })}
      />
      <Choice
        label="Interval"
        value={interval}
        options={WIDTHS}
        choose={(next) => change({ interval: next })}
      />
      <Choice
        label="Shape"
        value={shape}
        options={SHAPES}
        choose={(next) => change({ shape: next === "line" ? next : "" })}
      />
    </div>
  );
}
