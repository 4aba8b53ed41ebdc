/** Up to eight backtests beside one another: one chart, one table, and what they were called with. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { type Pane, type View, wanted } from "~/charts/panes";
import { useTitle } from "~/shell/title";
import { IconButton } from "~/ui/button";
import { Empty, Failed, Notice, Panel, Skeleton } from "~/ui/panel";
import { type AlignedLine, inDetail, linesOf, told } from "./aligned";
import { differences } from "./arguments";
import { ChartFigure } from "./chart-figure";
import { grouped, isSigned, ratio, worstOf, written } from "./measures";
import * as ask from "./queries";
import { type Arguments, type ComparedMeasure, MOST_COMPARED } from "./shapes";
import { nameOf } from "./standing";
import { useBacktestNews } from "./use-news";
import "./series.css";

interface Column {
  id: string;
  name: string;
  colour: string;
}

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

export function ComparePage() {
  const { project = "", model = "" } = useParams({ strict: false });
  const search = useSearch({ strict: false }) as { ids?: string };
  const named = useMemo(
    () => (search.ids ?? "").split(",").filter(Boolean).slice(0, MOST_COMPARED),
    [search.ids],
  );
  const [align, setAlign] = useState<"time" | "start">("time");
  const navigate = useNavigate();
  useTitle("Compare backtests");
  useBacktestNews(model);
  const { data, error, refetch } = useQuery({
    ...ask.comparison(model, named, align, null),
    enabled: named.length > 0,
  });
  const [asked, setAsked] = useState<View | null>(null);
  const detail = useQuery({
    ...ask.comparison(model, named, align, asked),
    enabled: named.length > 0 && asked !== null,
  });
  const all = useMemo(() => allOf(data?.times ?? []), [data]);
  const closer = asked && detail.data?.align === data?.align ? detail.data : undefined;
  const lines = useMemo(
    () => (data ? inDetail(linesOf(data), closer ? linesOf(closer) : []) : []),
    [data, closer],
  );
  const onSeen = useCallback(
    (seen: View) => all && setAsked((now) => wanted(seen, all, now)),
    [all],
  );
  function chooseAlign(next: "time" | "start") {
    setAsked(null);
    setAlign(next);
  }
  const facts = useQueries({ queries: named.map((id) => ask.facts(model, id)) });
  const runs = useQuery(ask.runs(model));
  const columns = named.map((id, place): Column => {
    const run = runs.data?.find(({ backtest_id: one }) => one === id) ?? null;
    const words = facts[place]?.data ?? { label: null, description: null, backtest_id: id };
    return { id, name: nameOf(words, run), colour: `series-${place + 1}` };
  });
  const args = named.map(
    (id) => runs.data?.find((one) => one.backtest_id === id)?.arguments ?? null,
  );
  function leaveOut(id: string) {
    const ids = named.filter((one) => one !== id).join(",");
    void navigate({
      to: "/$project/$model/backtests/compare",
      params: { project, model },
      search: { ids },
    });
  }

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div>
        <Link to="/$project/$model/backtests" params={{ project, model }} className="link text-sm">
          ← All backtests
        </Link>
        <h2 className="mt-1 text-lg">
          Compare {named.length > 1 ? `${named.length} backtests` : "backtests"}
        </h2>
      </div>
      {named.length === 0 ? (
        <Panel>
          <Empty title="Nothing is chosen">
            Tick two or more in the list of backtests, then compare them.
          </Empty>
        </Panel>
      ) : error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Panel>
          <Skeleton rows={8} />
        </Panel>
      ) : (
        <>
          <Together
            columns={columns}
            lines={lines}
            drawn={data.align}
            align={align}
            setAlign={chooseAlign}
            all={all}
            onSeen={onSeen}
            returns={data.metrics.find(({ name }) => name === "total_return")?.values ?? []}
          />
          <Names columns={columns} project={project} model={model} leaveOut={leaveOut} />
          <ArgumentTable columns={columns} args={args} />
          <MetricTable
            columns={columns}
            measures={data.metrics}
            currencies={facts.map((one) => one.data?.quote_asset ?? null)}
          />
        </>
      )}
    </div>
  );
}

function allOf(times: readonly number[]): View | null {
  const [first, last] = [times[0], times.at(-1)];
  return first === undefined || last === undefined ? null : { from: first, to: last };
}

function Together({
  columns,
  lines,
  drawn,
  align,
  setAlign,
  all,
  onSeen,
  returns,
}: {
  returns: readonly (number | null)[];
  columns: Column[];
  lines: readonly AlignedLine[];
  /** How the lines that are here lie; what was chosen may still be on its way. */
  drawn: "time" | "start";
  align: "time" | "start";
  setAlign: (align: "time" | "start") => void;
  all: View | null;
  onSeen: (seen: View) => void;
}) {
  const name = (id: string) => columns.find((one) => one.id === id)?.name ?? id;
  const shape = columns.map((one) => `${one.id} ${one.name}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the columns are new each time, their words are not
  const panes = useMemo<Pane[]>(
    () => [
      {
        id: "compared",
        weight: 1,
        written: ratio,
        curves: lines.map(({ id, points }, place) => ({
          id,
          label: name(id),
          colour: `series-${place + 1}`,
          kind: "line",
          dash: Math.floor(place / 3),
          points,
        })),
      },
    ],
    [lines, shape],
  );
  return (
    <Panel title="From 100 each">
      {lines
        .filter(({ reason }) => reason)
        .map(({ id, reason }) => (
          <div key={id} className="mb-3">
            <Notice tone="warn">
              {name(id)}: {reason}
            </Notice>
          </div>
        ))}
      {all ? (
        <ChartFigure
          label="The account values, each from 100"
          words={told(lines, name, returns)}
          panes={panes}
          axis={drawn}
          all={all}
          onSeen={onSeen}
          height={380}
          aside={
            <label className="flex min-h-7 items-center gap-2 text-sm">
              <input
                type="checkbox"
                className="size-4 accent-accent"
                checked={align === "start"}
                onChange={(event) => setAlign(event.target.checked ? "start" : "time")}
              />
              Lay their starts on one another
            </label>
          }
        />
      ) : (
        <p className="text-soft">None of them has an account value to draw.</p>
      )}
    </Panel>
  );
}

function Names({
  columns,
  project,
  model,
  leaveOut,
}: {
  columns: Column[];
  project: string;
  model: string;
  leaveOut: (id: string) => void;
}) {
  return (
    <ul className="flex flex-wrap gap-2" aria-label="Compared">
      {columns.map(({ id, name, colour }) => (
        <li
          key={id}
          className="flex max-w-full min-w-0 items-center gap-2 rounded-md border border-line bg-surface pl-3"
        >
          <Swatch colour={colour} />
          <Link
            to="/$project/$model/$backtest/backtest"
            params={{ project, model, backtest: id }}
            className="min-w-0 truncate hover:underline"
          >
            {name}
          </Link>
          <IconButton label={`Leave out ${name}`} icon="close" onClick={() => leaveOut(id)} />
        </li>
      ))}
    </ul>
  );
}

function Swatch({ colour }: { colour: string }) {
  return (
    <span
      aria-hidden="true"
      className="inline-block size-2.5 shrink-0 rounded-sm"
      style={{ backgroundColor: `var(--${colour})` }}
    />
  );
}

function ArgumentTable({ columns, args }: { columns: Column[]; args: (Arguments | null)[] }) {
  const [all, setAll] = useState(false);
  const rows = differences(args);
  const shown = rows.filter(({ differs }) => all || differs);
  const known = args.filter((one) => one !== null).length;
  if (known === 0) return null;
  return (
    <Panel
      title="Arguments"
      flush
      aside={
        <label className="flex min-h-8 items-center gap-2 text-sm text-soft">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={all}
            onChange={(event) => setAll(event.target.checked)}
          />
          Also those that are alike
        </label>
      }
    >
      {shown.length === 0 ? (
        <p className="p-4 text-soft">
          {known < args.length
            ? "Only those that were run here have arguments, and these are alike."
            : "They were all called with the same arguments."}
        </p>
      ) : (
        <Grid label="Arguments" columns={columns}>
          {shown.map(({ name, values, differs }) => (
            <tr key={name} className="border-t border-line">
              <th
                scope="row"
                className="sticky left-0 bg-surface px-4 py-1.5 text-left font-mono text-xs font-normal"
              >
                {name}
              </th>
              {values.map((value, place) => (
                <td
                  key={columns[place]?.id}
                  className={`px-3 py-1.5 text-right font-mono text-xs ${differs ? "" : "text-soft"}`}
                >
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </Grid>
      )}
    </Panel>
  );
}

function MetricTable({
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
          All of them
        </label>
      }
    >
      <Grid label="Metrics" columns={columns}>
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
                      text={written(value, one.type, {
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
      </Grid>
      <p className="border-t border-line px-4 py-2 text-sm text-soft">
        <span aria-hidden="true">★</span> marks the best of a row, <span aria-hidden="true">▾</span>{" "}
        the worst, where more is better or worse at all.
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

function Grid({
  label,
  columns,
  children,
}: {
  label: string;
  columns: Column[];
  children: React.ReactNode;
}) {
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label={label}
      className="relative overflow-x-auto focus-visible:-outline-offset-2"
    >
      <table className="w-full text-sm">
        <thead>
          <tr className="text-xs">
            <th
              scope="col"
              className="sticky left-0 w-48 min-w-32 bg-surface px-4 py-2 text-left font-medium text-soft"
            >
              {label === "Metrics" ? "Metric" : "Argument"}
            </th>
            {columns.map(({ id, name, colour }) => (
              <th key={id} scope="col" className="min-w-28 px-3 py-2 text-right font-medium">
                <span className="inline-flex max-w-40 items-center gap-1.5">
                  <Swatch colour={colour} />
                  <span className="truncate" title={name}>
                    {name}
                  </span>
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
