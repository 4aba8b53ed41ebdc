/** The list of backtests: a table on wide screens, cards on phones. */
import { Link } from "@tanstack/react-router";
import { Label } from "~/features/backtests/label";
import { MetricValue } from "~/features/backtests/metric-value";
import { elapsed, period } from "~/features/backtests/period";
import { nameOf, type Row } from "~/features/backtests/progress";
import { fileOf } from "~/features/backtests/queries";
import { MOST_COMPARED } from "~/features/backtests/types";
import { StatusBadge } from "~/features/model/status-badge";
import { lasting } from "~/format/times";
import { IconButton } from "~/ui/button";
import { Menu, MenuItem, MenuLine } from "~/ui/menu";
import { Time, useNow } from "~/ui/time";
import { type Column, FIGURES, type Sorting } from "./sorting";

export interface TableProps {
  project: string;
  model: string;
  rows: Row[];
  mayChange: boolean;
  chosen: readonly string[];
  choose: (id: string) => void;
  sorting: Sorting;
  sort: (column: Column) => void;
  remove: (row: Row) => void;
  stop: (row: Row) => void;
}

const HEADS: [Column, string, string][] = [
  ["name", "Backtest", "text-left"],
  ["status", "Status", "text-left"],
  ["total_return", "Return", "text-right"],
  ["sharpe", "Sharpe", "text-right"],
  ["max_drawdown", "Max drawdown", "text-right hidden lg:table-cell"],
  ["trades", "Trades", "text-right hidden lg:table-cell"],
  ["created_at", "Created", "text-right hidden xl:table-cell"],
];
const HIDDEN: Record<string, string> = {
  max_drawdown: "hidden lg:table-cell",
  trades: "hidden lg:table-cell",
};

export function BacktestTable(props: TableProps) {
  return (
    <>
      <div className="hidden md:block">
        <WideTable {...props} />
      </div>
      <ul className="divide-y divide-line md:hidden">
        {props.rows.map((row) => (
          <Card key={row.backtest.backtest_id} row={row} {...props} />
        ))}
      </ul>
    </>
  );
}

function WideTable({ rows, sorting, sort, ...rest }: TableProps) {
  return (
    <table className="w-full">
      <thead className="text-xs text-soft">
        <tr>
          <th scope="col" className="w-10 py-2 pl-4">
            <span className="sr-only">Compare</span>
          </th>
          {HEADS.map(([column, name, looks]) => {
            const isSorted = sorting.column === column;
            return (
              <th
                key={column}
                scope="col"
                className={`px-3 py-2 font-medium whitespace-nowrap ${looks}`}
                {...(isSorted
                  ? { "aria-sort": sorting.desc ? ("descending" as const) : ("ascending" as const) }
                  : {})}
              >
                <button
                  type="button"
                  className="rounded-sm hover:text-ink"
                  onClick={() => sort(column)}
                >
                  {name}
                  <span aria-hidden="true" className="inline-block w-3.5 text-center">
                    {isSorted ? (sorting.desc ? "↓" : "↑") : ""}
                  </span>
                </button>
              </th>
            );
          })}
          <th scope="col" className="w-12 pr-3">
            <span className="sr-only">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={row.backtest.backtest_id}
            className="border-t border-line align-top hover:bg-hover"
          >
            <td className="py-3 pl-4">
              <Choice row={row} {...rest} />
            </td>
            <td className="w-full max-w-0 min-w-40 px-3 py-2.5">
              <Words row={row} {...rest} />
            </td>
            <td className="min-w-28 px-3 py-2.5 whitespace-nowrap">
              <Progress row={row} />
            </td>
            {FIGURES.map((name) => (
              <td key={name} className={`px-3 py-2.5 text-right ${HIDDEN[name] ?? ""}`}>
                <KeyFigure row={row} name={name} />
              </td>
            ))}
            <td className="hidden px-3 py-2.5 text-right text-soft xl:table-cell">
              <Time at={row.backtest.created_at} />
            </td>
            <td className="py-1.5 pr-3">
              <Actions row={row} {...rest} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Card({ row, ...rest }: TableProps & { row: Row }) {
  return (
    <li className="grid grid-cols-[auto_minmax(0,1fr)_auto] gap-x-3 px-4 py-3">
      <div className="pt-0.5">
        <Choice row={row} {...rest} />
      </div>
      <div className="min-w-0">
        <Words row={row} {...rest} />
        <div className="mt-1.5">
          <Progress row={row} />
        </div>
        {row.backtest.symbols && (
          <dl className="mt-2 grid grid-cols-2 gap-x-4 gap-y-1.5 min-[28rem]:grid-cols-4">
            {FIGURES.map((name) => (
              <div key={name}>
                <dt className="text-xs text-soft">
                  {row.backtest.metrics.computed[name]?.display_name ?? name}
                </dt>
                <dd>
                  <KeyFigure row={row} name={name} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      <Actions row={row} {...rest} />
    </li>
  );
}

type Rest = Omit<TableProps, "rows" | "sorting" | "sort"> & { row: Row };

function Choice({ row: { backtest, run }, chosen, choose }: Rest) {
  const id = backtest.backtest_id;
  const isChosen = chosen.includes(id);
  const isFull = !isChosen && chosen.length >= MOST_COMPARED;
  return (
    <input
      type="checkbox"
      aria-label={`Compare ${nameOf(backtest, run)}`}
      title={isFull ? `You can compare at most ${MOST_COMPARED}` : undefined}
      className="size-4 accent-accent"
      checked={isChosen}
      disabled={isFull}
      onChange={() => choose(id)}
    />
  );
}

function Words({ row: { backtest, run, progress }, project, model, mayChange }: Rest) {
  const name =
    backtest.description || run?.description || `Backtest ${backtest.backtest_id.slice(0, 8)}`;
  const facts = [
    run?.version ? `version ${run.version}` : "",
    period(backtest.start_time, backtest.stop_time),
    backtest.symbols?.slice(0, 3).join(", ") ?? "",
  ].filter(Boolean);
  return (
    <div className="min-w-0">
      <div className="flex min-w-0 flex-wrap items-center gap-x-2">
        <Link
          to="/$project/$model/$backtest/backtest"
          params={{ project, model, backtest: backtest.backtest_id }}
          dir="auto"
          title={name}
          className="min-w-0 truncate font-medium hover:underline"
        >
          {name}
        </Link>
        <Label
          model={model}
          id={backtest.backtest_id}
          label={backtest.label}
          name={name}
          mayChange={mayChange}
        />
      </div>
      {facts.length > 0 && (
        <p className="text-sm [overflow-wrap:anywhere] text-soft">{facts.join(" · ")}</p>
      )}
      {run?.trouble && !backtest.status && (
        <p
          title={run.trouble}
          className={`line-clamp-2 text-sm [overflow-wrap:anywhere] ${progress.tone === "bad" ? "text-bad" : "text-warn"}`}
        >
          {run.trouble}
        </p>
      )}
    </div>
  );
}

function Progress({ row: { run, progress, backtest } }: { row: Row }) {
  return (
    <div className="flex items-baseline gap-x-3 md:grid md:gap-0.5">
      <StatusBadge status={progress} />
      {progress.isUp ? (
        run?.started_at ? (
          <Elapsed since={run.started_at} />
        ) : null
      ) : (
        backtest.status?.time_elapsed != null && (
          <span className="num text-sm text-soft">{elapsed(backtest.status.time_elapsed)}</span>
        )
      )}
    </div>
  );
}

function Elapsed({ since }: { since: number }) {
  return <span className="num text-sm text-soft">{lasting(useNow(1) - since)}</span>;
}

function KeyFigure({ row: { backtest }, name }: { row: Row; name: string }) {
  const measure = backtest.metrics.computed[name];
  if (backtest.metrics.computing)
    return <span className="skeleton inline-block h-3 w-12" title="Being computed" />;
  return <MetricValue name={name} measure={measure} currency={backtest.quote_asset ?? null} />;
}

function Actions({ row, model, mayChange, remove, stop }: Rest) {
  const { backtest, run, progress } = row;
  const name = nameOf(backtest, run);
  const isThere = backtest.symbols !== undefined;
  if (!mayChange && !isThere) return null;
  return (
    <Menu trigger={<IconButton label={`Actions for ${name}`} icon="more" />} label={name}>
      {isThere && (
        <>
          <MenuItem
            onSelect={() =>
              open(fileOf(model, backtest.backtest_id, "tear-sheet"), "_blank", "noopener")
            }
          >
            Tear sheet
          </MenuItem>
          <MenuItem
            onSelect={() => location.assign(fileOf(model, backtest.backtest_id, "export.csv"))}
          >
            Account values as CSV
          </MenuItem>
        </>
      )}
      {mayChange && (
        <>
          {isThere && <MenuLine />}
          {progress.isUp && run && <MenuItem onSelect={() => stop(row)}>Stop</MenuItem>}
          <MenuItem danger onSelect={() => remove(row)}>
            Delete
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
