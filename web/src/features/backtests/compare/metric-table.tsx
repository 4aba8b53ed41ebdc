/** The metrics of the compared backtests, with the best and the worst of each row marked. */
import { formatMetric, grouped, isSigned, worstOf } from "~/features/backtests/metrics";
import type { ComparedMeasure } from "~/features/backtests/types";
import { useView } from "~/ui/address";
import { Panel } from "~/ui/panel";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
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
  const [{ metrics: asked }, change] = useView<"metrics">();
  const all = asked === "all";
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
        <span className="flex flex-wrap items-center gap-x-4">
          <TableFile
            name="Compared metrics"
            columns={[
              ["metric", (one: ComparedMeasure) => one.display_name],
              ["type", (one: ComparedMeasure) => one.type],
              ...columns.map(
                ({ name }, place): FileColumn<ComparedMeasure> => [
                  name,
                  (one) => one.values[place],
                ],
              ),
            ]}
            rows={shown.flatMap(({ rows }) => rows)}
          />
          <label className="flex min-h-8 items-center gap-2 text-sm text-soft">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={all}
              onChange={({ target }) => change({ metrics: target.checked ? "all" : "" })}
            />
            Show all metrics{" "}
          </label>
        </span>
      }
    >
      <ComparisonTable
        label="Metrics"
        head="Metric"
        columns={columns}
        groups={shown.map(({ title, rows }) => ({
          title,
          rows: rows.map((one) => ({
            key: one.name,
            name: one.display_name,
            hint: one.explanation,
            cells: cellsOf(one, currencies),
          })),
        }))}
      />
      <p className="border-t border-line px-4 py-2 text-sm text-soft">
        <span aria-hidden="true">★</span> marks the best value in a row,{" "}
        <span aria-hidden="true">▾</span> the worst.
      </p>
    </Panel>
  );
}

/** A value of each backtest, the best and the worst marked. */
function cellsOf(one: ComparedMeasure, currencies: readonly (string | null)[]): React.ReactNode[] {
  const worst = worstOf(one.values, one.best);
  return one.values.map((value, place) => {
    const isBest = one.best.includes(place) && worst.length > 0;
    const currency = currencies[place] ?? null;
    return (
      <Marked
        // biome-ignore lint/suspicious/noArrayIndexKey: a value belongs to its place
        key={place}
        text={formatMetric(value, one.type, { currency, signed: isSigned(one.name) })}
        mark={isBest ? "best" : worst.includes(place) ? "worst" : null}
      />
    );
  });
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
