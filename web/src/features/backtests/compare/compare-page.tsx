/** Up to eight backtests side by side: one chart, and tables of their arguments and metrics. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { isMissing } from "~/api/problem";
import { type View, wanted } from "~/charts/panes";
import { periodsOf } from "~/features/backtests/period";
import { nameOf } from "~/features/backtests/progress";
import * as ask from "~/features/backtests/queries";
import { MOST_COMPARED } from "~/features/backtests/types";
import { useBacktestUpdates } from "~/features/backtests/use-updates";
import { useTitle, useView } from "~/ui/address";
import { IconButton } from "~/ui/button";
import { Empty, Failed, Notice, Panel, Skeleton } from "~/ui/panel";
import { inDetail, linesOf } from "./aligned";
import { ArgumentTable } from "./argument-table";
import { type Column, Swatch } from "./column";
import { ComparisonChart } from "./comparison-chart";
import { MetricTable } from "./metric-table";

export function ComparePage() {
  const { project = "", model = "" } = useParams({ strict: false });
  const [{ ids = "", align: aligned }, change] = useView<"ids" | "align" | "range">();
  const given = useMemo(() => ids.split(",").filter(Boolean).slice(0, MOST_COMPARED), [ids]);
  const answers = useQueries({ queries: given.map((id) => ask.facts(model, id)) });
  const gone = given.filter((_, place) => isMissing(answers[place]?.error));
  const left = given.filter((id) => !gone.includes(id)).join(",");
  const named = useMemo(() => left.split(",").filter(Boolean), [left]);
  const align = aligned === "start" ? "start" : "time";
  useTitle("Compare backtests");
  useBacktestUpdates(model);
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
    change({ align: next === "start" ? next : "", range: "" });
  }
  const facts = answers.filter((one) => !isMissing(one.error));
  // A deleted one fails the comparison; which one it is, its own answer says.
  const isUnclear = isMissing(error) && answers.some(({ isPending }) => isPending);
  const runs = useQuery(ask.runs(model));
  const columns = named.map((id, place): Column => {
    const run = runs.data?.find(({ backtest_id: one }) => one === id) ?? null;
    const words = facts[place]?.data ?? { label: null, description: null, backtest_id: id };
    return { id, name: nameOf(words, run), colour: `series-${place + 1}` };
  });
  const args = named.map(
    (id) => runs.data?.find((one) => one.backtest_id === id)?.arguments ?? null,
  );
  const periods = periodsOf(facts.flatMap((one) => one.data ?? []));
  function leaveOut(id: string) {
    change({ ids: named.filter((one) => one !== id).join(",") });
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
      {gone.length > 0 && (
        <Notice tone="info">
          {gone.length === 1 ? "This one is" : "These are"} no longer there, and left out:{" "}
          <span dir="auto">{gone.join(", ")}</span>
        </Notice>
      )}
      {named.length === 0 ? (
        <Panel>
          <Empty title={gone.length > 0 ? "None of them is left" : "No backtests selected"}>
            Select two or more in the list of backtests, then compare them.
          </Empty>
        </Panel>
      ) : error && !isUnclear ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Panel>
          <Skeleton rows={8} />
        </Panel>
      ) : (
        <>
          {periods.length > 1 && (
            <Notice tone="warn">
              These backtests cover different periods, so their figures are not comparable: a better
              one may only have had better days. The periods are {periods.join("; ")}.
            </Notice>
          )}
          <ComparisonChart
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
    <ul className="flex flex-wrap gap-2" aria-label="Compared backtests">
      {columns.map(({ id, name, colour }) => (
        <li
          key={id}
          className="flex max-w-full min-w-0 items-center gap-2 rounded-md border border-line bg-surface pl-3"
        >
          <Swatch colour={colour} />
          <Link
            to="/$project/$model/$backtest/backtest"
            params={{ project, model, backtest: id }}
            dir="auto"
            title={name}
            className="min-w-0 truncate hover:underline"
          >
            {name}
          </Link>
          <IconButton label={`Remove ${name}`} icon="close" onClick={() => leaveOut(id)} />
        </li>
      ))}
    </ul>
  );
}
