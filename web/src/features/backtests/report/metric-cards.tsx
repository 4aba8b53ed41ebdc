/** A backtest's metrics: the most important on top, all others below, each with its explanation. */
import { useState } from "react";
import { MetricValue } from "~/features/backtests/metric-value";
import { grouped, headlines, type Named } from "~/features/backtests/metrics";
import type { Backtest } from "~/features/backtests/types";
import type { Cell } from "~/format/csv";
import { useView } from "~/ui/address";
import { Button } from "~/ui/button";
import { Panel } from "~/ui/panel";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";

export function Headlines({ backtest }: { backtest: Backtest }) {
  const { computed } = backtest.metrics;
  const currency = backtest.quote_asset ?? null;
  return (
    <dl className="flex flex-wrap gap-px overflow-hidden rounded-lg border border-line bg-line">
      {headlines(computed).map((one) => (
        <div
          key={one.name}
          className="max-w-full flex-[1_1_40%] bg-surface px-4 py-3 sm:flex-[1_1_20%] 2xl:flex-[1_1_11%]"
          title={one.explanation}
        >
          <dt className="text-xs text-soft">{one.display_name}</dt>
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

const FILE: readonly FileColumn<Named & { group: string }>[] = [
  ["group", (one) => one.group],
  ["name", (one) => one.name],
  ["metric", (one) => one.display_name],
  ["value", (one) => one.value as Cell],
  ["type", (one) => one.type],
  ["reason", (one) => one.reason],
];

export function MetricCards({ backtest }: { backtest: Backtest }) {
  const [{ explained: word }, change] = useView<"explained">();
  const explained = word !== undefined;
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
        <span className="flex flex-wrap items-center gap-x-4">
          <label className="flex min-h-8 items-center gap-2 text-sm text-soft">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={explained}
              onChange={(event) => change({ explained: event.target.checked ? "yes" : "" })}
            />
            Show explanations
          </label>
          <TableFile
            name={`Metrics of ${backtest.label ?? backtest.backtest_id}`}
            columns={FILE}
            rows={groups.flatMap(({ title, measures }) =>
              measures.map((one) => ({ group: title, ...one })),
            )}
          />
        </span>
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
                  <dt dir="auto" className="min-w-0 [overflow-wrap:anywhere]">
                    {one.display_name || one.name}
                  </dt>
                  <dd className="ml-auto">
                    <MetricValue name={one.name} measure={one} currency={currency} />
                  </dd>
                  {(explained || (one.value === null && one.reason)) && (
                    // As wide as the row: a narrower one would stand beside the name and squeeze it.
                    <dd className="w-full text-xs text-soft">
                      <p className="max-w-prose">
                        {one.value === null && one.reason ? one.reason : one.explanation}
                      </p>
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
