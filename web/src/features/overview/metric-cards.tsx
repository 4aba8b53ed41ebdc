/** Figures of merit, the platform's and the model's own, each with what it means. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import * as ask from "~/api/queries";
import type { Metric } from "~/api/types";
import { isSigned, written } from "~/features/backtests/metrics";
import { Button } from "~/ui/button";
import { Panel } from "~/ui/panel";

/** As many as are read at a glance; the first are those that count most. */
const AT_FIRST = 12;

export function MetricCards({ model, currency }: { model: string; currency: string | null }) {
  const { data } = useQuery(ask.metrics(model));
  const [all, setAll] = useState(false);
  const own = Object.entries(data?.custom ?? {});
  const computed = Object.entries(data?.computed ?? {}).filter(([, one]) => one.value !== null);
  const found = [...own, ...computed];
  if (found.length === 0) return null;
  return (
    <Panel title="Metrics">
      <dl className="grid grid-cols-2 gap-x-4 gap-y-2.5">
        {(all ? found : found.slice(0, AT_FIRST)).map(([name, one]) => (
          <div key={name} className="min-w-0" title={explained(one)}>
            <dt className="truncate text-xs text-soft">{one.display_name || name}</dt>
            <dd className="num truncate">{shown(name, one, currency)}</dd>
          </div>
        ))}
      </dl>
      {found.length > AT_FIRST && (
        <Button className="mt-3" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Show the first ones" : `Show all ${found.length}`}
        </Button>
      )}
    </Panel>
  );
}

function shown(name: string, { value, type }: Metric, currency: string | null): string {
  const kind = type === "percentage" ? "percent" : type;
  return written(value, kind, { currency, signed: isSigned(name) });
}

/** Only ours are explained; what a model's own mean, it says in their names. */
function explained(metric: Metric): string | undefined {
  return "explanation" in metric ? metric.explanation : undefined;
}
