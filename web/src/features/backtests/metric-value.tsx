/** One metric by its type, coloured where its sign means a gain or a loss. */
import { formatMetric, isSigned } from "./metrics";
import type { Measure } from "./types";

const WAYS = { up: "text-up", down: "text-down" } as const;

export function MetricValue({
  name,
  measure,
  currency,
}: {
  name: string;
  measure: Measure | undefined;
  currency: string | null;
}) {
  if (!measure || measure.value === null) {
    return (
      <span className="text-soft" title={measure?.reason ?? undefined}>
        –
      </span>
    );
  }
  const { value, type } = measure;
  const signed = isSigned(name);
  const text = formatMetric(value, type, { currency, signed });
  const way =
    signed && typeof value === "number"
      ? text.startsWith("+")
        ? "up"
        : text.startsWith("\u2212")
          ? "down"
          : null
      : null;
  return <span className={`num whitespace-nowrap ${way ? WAYS[way] : ""}`}>{text}</span>;
}
