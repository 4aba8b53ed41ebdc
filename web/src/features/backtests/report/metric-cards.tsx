/** A backtest's metrics: the most important on top, all others below, each with its explanation. */
import { useState } from "react";
import { MetricValue } from "~/features/backtests/metric-value";
import { grouped, headlines, type Named } from "~/features/backtests/metrics";
import type { Backtest } from "~/features/backtests/types";
import { Button } from "~/ui/button";
import { Panel } from "~/ui/panel";

export function Headlines({ backtest }: { backtest: Backtest }) {
  const { computed } = backtest.metrics;
  const currency = backtest.quote_asset ?? null;
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4 2xl:grid-cols-8">
      {headlines(computed).map((one) => (
        <div key={one.name} className="min-w-0 bg-surface px-4 py-3" title={one.explanation}>
          <dt className="truncate text-xs text-soft">{one.display_name}</dt>
          <dd className="mt-0.5 text-xl font-semibold tracking-tight">
            <MetricValue name={one.name} measure={one} currency={currency} />
          </dd>
          {one.value === null && one.reason && (
            <dd className="mt-0.5 text-xs text-soft">{one.reason}</dd>
          )}
        </div>
      ))}
    </dl>
  );
}

export function MetricCards({ backtest }: { backtest: Backtest }) {
  const [explained, setExplained] = useState(false);
  // On a phone, a hundred open rows would push everything below out of reach.
  const [open, setOpen] = useState(() => matchMedia("(min-width: 48rem)").matches);
  const currency = backtest.quote_asset ?? null;
  const own: Named[] = Object.entries(backtest.metrics.custom).map(([name, one]) => ({
    name,
    ...one,
  }));
  const groups = grouped(backtest.metrics.computed);
  if (own.length) groups.unshift({ title: "Reported by the model", measures: own });
  if (!open) {
    const count = groups.reduce((sum, { measures }) => sum + measures.length, 0);
    return (
      <Panel title="Metrics">
        <Button onClick={() => setOpen(true)}>Show all {count} metrics</Button>
      </Panel>
    );
  }
  return (
    <Panel
      title="Metrics"
      aside={
        <label className="flex min-h-8 items-center gap-2 text-sm text-soft">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={explained}
            onChange={(event) => setExplained(event.target.checked)}
          />
          Show explanations
        </label>
      }
    >
      <div className="gap-x-10 lg:columns-2 2xl:columns-3">
        {groups.map(({ title, measures }) => (
          <section key={title} className="mb-5 min-w-0">
            <h3 className="mb-1 break-after-avoid text-sm text-soft">{title}</h3>
            <dl>
              {measures.map((one) => (
                <div
                  key={one.name}
                  className="flex break-inside-avoid flex-wrap items-baseline justify-between gap-x-4 border-t border-line py-1.5"
                  title={explained ? undefined : one.explanation}
                >
                  <dt className="min-w-0 flex-1">{one.display_name || one.name}</dt>
                  <dd>
                    <MetricValue name={one.name} measure={one} currency={currency} />
                  </dd>
                  {(explained || (one.value === null && one.reason)) && (
                    <dd className="w-full max-w-prose text-xs text-soft">
                      {one.value === null && one.reason ? one.reason : one.explanation}
                    </dd>
                  )}
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Panel>
  );
}
