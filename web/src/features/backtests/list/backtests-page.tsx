/** The list of a model's backtests: compare some, or start a new one. */
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { joined, nameOf, type Row } from "~/features/backtests/progress";
import * as ask from "~/features/backtests/queries";
import { NewBacktest } from "~/features/backtests/start/new-backtest";
import { MOST_COMPARED } from "~/features/backtests/types";
import { refresh, useBacktestUpdates, useWhenComputed } from "~/features/backtests/use-updates";
import { type Cell, dated } from "~/format/csv";
import { useView } from "~/ui/address";
import { Button, ButtonLink } from "~/ui/button";
import { Confirm } from "~/ui/dialogs/dialog";
import { Empty, Failed, Panel, Skeleton } from "~/ui/panel";
import { useMay } from "~/ui/rights/allowed";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { BacktestTable } from "./backtest-table";
import { type Column, FIGURES, figureOf, sorted, sortingOf, textOf, turned } from "./sorting";

const FILE: readonly FileColumn<Row>[] = [
  ["backtest_id", ({ backtest }) => backtest.backtest_id],
  ["name", ({ backtest, run }) => nameOf(backtest, run)],
  ["label", ({ backtest }) => backtest.label],
  ["status", ({ progress }) => progress.label],
  ["version", ({ run }) => run?.version],
  ["start", ({ backtest }) => moment(backtest.start_time)],
  ["stop", ({ backtest }) => moment(backtest.stop_time)],
  ...FIGURES.map((name): FileColumn<Row> => [name, (row) => figureOf(row, name)]),
  ["created", ({ backtest }) => dated(backtest.created_at)],
];

interface Wish {
  act: "delete" | "stop";
  row: Row;
}

export function BacktestsPage() {
  const { project = "", model = "" } = useParams({ strict: false });
  const queries = useQueryClient();
  const mayChange = useMay(project, "change_models");
  const found = useInfiniteQuery(ask.list(model));
  const runs = useQuery(ask.runs(model));
  const [{ sort = "", chosen: ids = "" }, change] = useView<"sort" | "chosen">();
  const sorting = sortingOf(sort);
  const chosen = ids.split(",").filter(Boolean);
  const setChosen = (next: string[]) => change({ chosen: next.join(",") }, "typed");
  const [isNew, setNew] = useState(false);
  const [wish, setWish] = useState<Wish | null>(null);
  const [asks, setAsks] = useState(false);
  useBacktestUpdates(model);
  const rows = useMemo(
    () => joined(found.data?.pages.flatMap((page) => page.items) ?? [], runs.data ?? []),
    [found.data, runs.data],
  );
  useWhenComputed(
    model,
    rows
      .filter(({ backtest }) => backtest.metrics.computing)
      .map(({ backtest }) => backtest.backtest_id),
  );
  const still = chosen.filter((id) => rows.some(({ backtest }) => backtest.backtest_id === id));

  function wishFor(act: Wish["act"], row: Row) {
    setWish({ act, row });
    setAsks(true);
  }
  async function carryOut() {
    if (!wish) return;
    const id = wish.row.backtest.backtest_id;
    if (wish.act === "delete") await ask.remove(model, id);
    else if (wish.row.run) await ask.stop(model, wish.row.run.run_id);
    await refresh(queries, model, wish.act === "stop" ? id : undefined);
  }

  return (
    <div className="grid gap-4">
      <Panel
        title="Backtests"
        flush
        aside={
          <span className="flex flex-wrap items-center gap-3">
            <TableFile name="Backtests" columns={FILE} rows={sorted(rows, sorting)} />
            {mayChange && (
              <Button weight="main" icon="play" onClick={() => setNew(true)}>
                Run a backtest
              </Button>
            )}
          </span>
        }
      >
        {found.error ? (
          <div className="p-4">
            <Failed error={found.error} retry={() => void found.refetch()} />
          </div>
        ) : !found.data || runs.isPending ? (
          <Skeleton rows={5} />
        ) : rows.length === 0 ? (
          <Nothing mayChange={mayChange} />
        ) : (
          <BacktestTable
            project={project}
            model={model}
            rows={sorted(rows, sorting)}
            mayChange={mayChange}
            chosen={still}
            choose={(id) =>
              setChosen(still.includes(id) ? still.filter((one) => one !== id) : [...still, id])
            }
            sorting={sorting}
            sort={(column: Column) => change({ sort: textOf(turned(sorting, column)) })}
            remove={(row) => wishFor("delete", row)}
            stop={(row) => wishFor("stop", row)}
          />
        )}
        {found.hasNextPage && (
          <div className="border-t border-line p-3 text-center">
            <Button disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
              Show older
            </Button>
          </div>
        )}
      </Panel>
      <Chosen project={project} model={model} ids={still} clear={() => setChosen([])} />
      <NewBacktest project={project} model={model} open={isNew} onOpenChange={setNew} />
      {wish && (
        <Confirm
          open={asks}
          onOpenChange={setAsks}
          title={`${wish.act === "delete" ? "Delete" : "Stop"} ${nameOf(wish.row.backtest, wish.row.run)}?`}
          action={wish.act === "delete" ? "Delete" : "Stop"}
          danger
          act={carryOut}
        >
          {wish.act === "delete"
            ? "This deletes its result, trades and log for everyone. The backtest still counts as a trial."
            : "The backtest ends now, without a result. Its log is kept."}
        </Confirm>
      )}
    </div>
  );
}

function Nothing({ mayChange }: { mayChange: boolean }) {
  return (
    <Empty title="No backtest yet">
      <p>
        {mayChange
          ? "Run a backtest with the button above, or "
          : "Backtests appear here when a member runs one. Programs can also "}
        send a result from anywhere with{" "}
        <code className="font-mono text-sm">POST /v1/backtest/result</code>. It appears here as soon
        as it arrives.
      </p>
    </Empty>
  );
}

/** The selected backtests, always visible. */
function Chosen({
  project,
  model,
  ids,
  clear,
}: {
  project: string;
  model: string;
  ids: string[];
  clear: () => void;
}) {
  if (ids.length === 0) return null;
  return (
    <div className="sticky bottom-3 z-20 mx-auto flex max-w-full flex-wrap items-center gap-x-4 gap-y-2 rounded-lg border border-line bg-surface px-4 py-2 shadow-lg">
      <p role="status">
        {ids.length === 1 ? "1 selected. Select another to compare" : `${ids.length} selected`}
        {ids.length === MOST_COMPARED && ", the maximum"}
      </p>
      <div className="flex gap-2">
        <Button weight="bare" onClick={clear}>
          Clear
        </Button>
        {ids.length > 1 && (
          <ButtonLink
            weight="main"
            icon="chart"
            to="/$project/$model/backtests/compare"
            params={{ project, model }}
            search={{ ids: ids.join(",") }}
          >
            Compare
          </ButtonLink>
        )}
      </div>
    </div>
  );
}

/** A result may name its times in words. */
function moment(said: string | number | null | undefined): Cell {
  return typeof said === "string" ? said : dated(said);
}
