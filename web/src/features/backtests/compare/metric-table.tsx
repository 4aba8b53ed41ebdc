/** The metrics of the compared backtests, with the best and the worst of each row marked. */
import { useState } from "react";
import { formatMetric, grouped, isSigned, worstOf } from "~/features/backtests/metrics";
import type { ComparedMeasure } from "~/features/backtests/types";
import { Panel } from "~/ui/panel";
import type { Column } from "./column";
import { ComparisonTable } from "./comparison-table";

const KEY = [
  "total_return",
  "cagr",
  "sharpe",
  "sortino",
  "max_drawdown",
  "volatility",
  "calmar",
  "win_rate_trades",
  "profit_factor",
  "trades",
  "fees",
];

export function MetricTable({
  columns,
  measures,
  currencies,
}: {
  columns: Column[];
  measures: ComparedMeasure[];
  currencies: (string | null)[];
}) {
  const [all, setAll] = useState(false);
  const groups = grouped(
    Object.fromEntries(measures.map((one) => [one.name, { ...one, value: null }])),
  );
  const byName = new Map(measures.map((one) => [one.name, one]));
  const shown = groups
    .map(({ title, measures: some }) => ({
      title,
      rows: some
        .flatMap(({ name }) => byName.get(name) ?? [])
        .filter(({ name }) => all || KEY.includes(name)),
    }))
    .filter(({ rows }) => rows.length > 0);
  return (
    <Panel
      title="Metrics"
      flush
      aside={
        <label className="flex min-h-8 items-center gap-2 text-sm text-soft">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={all}
            onChange={(event) => setAll(event.target.checked)}
          />
          Show all metrics{" "}
        </label>
      }
    >
      <ComparisonTable label="Metrics" columns={columns}>
        {shown.map(({ title, rows }) => [
          <tr key={title}>
            <th
              scope="rowgroup"
              colSpan={columns.length + 1}
              className="px-4 pt-4 pb-1 text-left text-xs font-medium text-soft"
            >
              {title}
            </th>
          </tr>,
          ...rows.map((one) => {
            const worst = worstOf(one.values, one.best);
            return (
              <tr key={one.name} className="border-t border-line">
                <th
                  scope="row"
                  title={one.explanation}
                  className="sticky left-0 bg-surface px-4 py-1.5 text-left font-normal"
                >
                  {one.display_name}
                </th>
                {one.values.map((value, place) => (
                  <td key={columns[place]?.id} className="px-3 py-1.5 text-right">
                    <Marked
                      text={formatMetric(value, one.type, {
                        currency: currencies[place] ?? null,
                        signed: isSigned(one.name),
                      })}
                      mark={
                        one.best.includes(place) && worst.length > 0
                          ? "best"
                          : worst.includes(place)
                            ? "worst"
                            : null
                      }
                    />
                  </td>
                ))}
              </tr>
            );
          }),
        ])}
      </ComparisonTable>
      <p className="border-t border-line px-4 py-2 text-sm text-soft">
        <span aria-hidden="true">★</span> marks the best value in a row,{" "}
        <span aria-hidden="true">▾</span> the worst.
      </p>
    </Panel>
  );
}

function Marked({ text, mark }: { text: string; mark: "best" | "worst" | null }) {
  if (!mark) return <span className="num whitespace-nowrap">{text}</span>;
  const isBest = mark === "best";
  return (
    <span
      className={`num rounded-sm px-1.5 py-0.5 whitespace-nowrap ${isBest ? "bg-good-ground font-medium text-good" : "bg-bad-ground text-bad"}`}
    >
      <span aria-hidden="true" className="mr-1 text-xs">
        {isBest ? "★" : "▾"}
      </span>
      {text}
      <span className="sr-only">, the {mark}</span>
    </span>
  );
}
