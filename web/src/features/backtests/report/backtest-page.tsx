/** One backtest, from queued to its full report. Existing clients open this address. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { BenchmarkPanel } from "~/features/backtests/benchmark";
import { Label } from "~/features/backtests/label";
import { elapsed, period } from "~/features/backtests/period";
import { nameOf, type Progress, progressOf } from "~/features/backtests/progress";
import * as ask from "~/features/backtests/queries";
import { shown } from "~/features/backtests/start/arguments";
import { NewBacktest } from "~/features/backtests/start/new-backtest";
import type { Backtest, Run } from "~/features/backtests/types";
import { refresh, useBacktestUpdates, useWhenComputed } from "~/features/backtests/use-updates";
import { LogView } from "~/features/logs/log-view";
import { StatusBadge } from "~/features/model/status-badge";
import { ShareButton } from "~/features/sharing/share-button";
import { integer } from "~/format/numbers";
import { lasting } from "~/format/times";
import { withZone } from "~/format/zone";
import { useTitle } from "~/ui/address";
import { Button } from "~/ui/button";
import { Confirm } from "~/ui/dialogs/dialog";
import { PageError } from "~/ui/page-error";
import { Fact, Notice, Panel, Skeleton } from "~/ui/panel";
import { useMay } from "~/ui/rights/allowed";
import { Time, useNow } from "~/ui/time";
import { DeflatedSharpe } from "./deflated-sharpe";
import { EquityFigure } from "./equity-figure";
import { Headlines, MetricCards } from "./metric-cards";
import { MonthsTable } from "./months-table";
import { PricePanel } from "./price-panel";
import { RollingFigure } from "./rolling-figure";
import { RoundTrips } from "./round-trips";

const NONE: readonly string[] = [];

export function BacktestPage() {
  const { model = "", backtest: id = "" } = useParams({ strict: false });
  useBacktestUpdates(model);
  const facts = useQuery(ask.facts(model, id));
  const run = useQuery(ask.run(model, id));
  useWhenComputed(model, facts.data?.metrics.computing ? [id] : NONE);
  useTitle(facts.data && nameOf(facts.data, run.data));
  if (facts.error) return <PageError error={facts.error} reset={() => void facts.refetch()} />;
  if (!facts.data || run.isPending) return <Skeleton rows={8} />;
  return <Shown key={id} backtest={facts.data} run={run.data ?? null} />;
}

function Shown({ backtest, run }: { backtest: Backtest; run: Run | null }) {
  const { model = "" } = useParams({ strict: false });
  const id = backtest.backtest_id;
  const progress = progressOf(backtest, run);
  const hasResult = backtest.symbols !== undefined;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <Head backtest={backtest} run={run} progress={progress} />
      <Ending backtest={backtest} run={run} progress={progress} />
      {hasResult && (
        <>
          {backtest.metrics.computing ? (
            <Notice tone="info">
              The metrics are being computed. They will appear here automatically.
            </Notice>
          ) : (
            <Headlines backtest={backtest} />
          )}
          <EquityFigure model={model} backtest={backtest} />
          <BenchmarkPanel
            symbols={backtest.symbols ?? NONE}
            comparing={ask.benchmarkOf(model, id)}
          />
          <div className="grid grid-cols-[minmax(0,1fr)] gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
            <MonthsTable model={model} id={id} />
            {backtest.trials && <DeflatedSharpe trials={backtest.trials} />}
          </div>
          <RollingFigure model={model} id={id} />
          <PricePanel model={model} backtest={backtest} />
          <RoundTrips model={model} id={id} currency={backtest.quote_asset ?? null} />
        </>
      )}
      <Panel title="Log" flush className="overflow-hidden">
        <LogView model={model} backtest={id} brief />
      </Panel>
      {hasResult && !backtest.metrics.computing && <MetricCards backtest={backtest} />}
      {hasResult && <Basis backtest={backtest} />}
    </div>
  );
}

function Head({
  backtest,
  run,
  progress,
}: {
  backtest: Backtest;
  run: Run | null;
  progress: Progress;
}) {
  const { project = "", model = "" } = useParams({ strict: false });
  const queries = useQueryClient();
  const navigate = useNavigate();
  const mayChange = useMay(project, "change_models");
  const [asks, setAsks] = useState<"stop" | "delete" | null>(null);
  const [again, setAgain] = useState(false);
  const id = backtest.backtest_id;
  const name = nameOf({ ...backtest, label: null }, run);
  async function carryOut() {
    if (asks === "stop" && run) await ask.stop(model, run.run_id);
    if (asks === "delete") {
      await ask.remove(model, id);
      await navigate({ to: "/$project/$model/backtests", params: { project, model } });
    }
    await refresh(queries, model, asks === "stop" ? id : undefined);
  }
  return (
    <Panel>
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <Link
            to="/$project/$model/backtests"
            params={{ project, model }}
            className="link text-sm"
          >
            ← All backtests
          </Link>
          <div className="mt-1 flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
            <h2 className="min-w-0 text-lg [overflow-wrap:anywhere]">{name}</h2>
            <Label model={model} id={id} label={backtest.label} name={name} mayChange={mayChange} />
            <span role="status">
              <StatusBadge status={progress} />
            </span>
          </div>
        </div>
        {mayChange && (
          <div className="flex flex-wrap gap-2">
            {backtest.symbols !== undefined && (
              <ShareButton
                project={project}
                model={model}
                backtest={id}
                name={name}
                label="Share this backtest"
              />
            )}
            {progress.isUp && run && (
              <Button icon="stop" onClick={() => setAsks("stop")}>
                Stop
              </Button>
            )}
            {run && (
              <Button icon="restart" onClick={() => setAgain(true)}>
                Run again
              </Button>
            )}
            {!progress.isUp && <Button onClick={() => setAsks("delete")}>Delete</Button>}
          </div>
        )}
      </div>
      <Facts backtest={backtest} run={run} progress={progress} />
      {run?.arguments && <ArgumentList values={run.arguments} />}
      {backtest.symbols !== undefined && <Files model={model} id={id} />}
      {run && (
        <NewBacktest
          project={project}
          model={model}
          open={again}
          onOpenChange={setAgain}
          like={{
            versionId: run.version_id,
            plan: run.plan,
            args: run.arguments,
            description: run.description,
          }}
        />
      )}
      <Confirm
        open={asks !== null}
        onOpenChange={(open) => !open && setAsks(null)}
        title={asks === "delete" ? `Delete ${name}?` : `Stop ${name}?`}
        action={asks === "delete" ? "Delete" : "Stop"}
        danger
        act={carryOut}
      >
        {asks === "delete"
          ? "This deletes its result, trades and log for everyone. The backtest still counts as a trial."
          : "The backtest ends now, without a result. Its log is kept."}
      </Confirm>
    </Panel>
  );
}

function Facts({
  backtest,
  run,
  progress,
}: {
  backtest: Backtest;
  run: Run | null;
  progress: Progress;
}) {
  const took = backtest.status?.time_elapsed;
  return (
    <dl className="mt-4 flex flex-wrap gap-x-8 gap-y-3">
      {backtest.symbols && <Fact name="Symbols">{backtest.symbols.join(", ") || "–"}</Fact>}
      {backtest.symbols && (
        <Fact name="Period">{period(backtest.start_time, backtest.stop_time) || "–"}</Fact>
      )}
      {backtest.quote_asset && <Fact name="Quoted in">{backtest.quote_asset}</Fact>}
      {backtest.symbols && <Fact name="Trades">{integer(backtest.counts.trades)}</Fact>}
      {run?.version != null && <Fact name="Version">{run.version}</Fact>}
      {run && (
        <Fact name="Plan">
          {run.plan}, Python {run.python_version}
        </Fact>
      )}
      <Fact name="Created">
        <Time at={backtest.created_at} />
      </Fact>
      {took != null && <Fact name="Took">{elapsed(took)}</Fact>}
      {progress.isUp && run?.started_at != null && (
        <Fact name="Runs for">
          <Running since={run.started_at} />
        </Fact>
      )}
    </dl>
  );
}

function Running({ since }: { since: number }) {
  return lasting(useNow(1) - since);
}

function ArgumentList({ values }: { values: Record<string, unknown> }) {
  const entries = Object.entries(values);
  return (
    <div className="mt-3">
      <h3 className="mb-1 text-xs font-normal text-soft">Arguments</h3>
      {entries.length === 0 ? (
        <p className="text-soft">None: it was called without any.</p>
      ) : (
        <ul className="flex flex-wrap gap-1.5">
          {entries.map(([name, value]) => (
            <li
              key={name}
              className="max-w-full truncate rounded-md bg-sunken px-2 py-0.5 font-mono text-xs"
              title={shown(value)}
            >
              <span className="text-soft">{name}</span> {shown(value)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const FILES: [string, string][] = [
  ["tear-sheet", "Tear sheet"],
  ["export.csv", "Values as CSV"],
  ["trades.csv", "Trades as CSV"],
  ["round-trips.csv", "Round trips as CSV"],
  ["export.json", "All as JSON"],
];

function Files({ model, id }: { model: string; id: string }) {
  return (
    <ul className="mt-4 flex flex-wrap gap-x-5 gap-y-1 border-t border-line pt-3 text-sm">
      {FILES.map(([file, label]) => (
        <li key={file}>
          <a
            className="link inline-flex min-h-6 items-center"
            href={withZone(ask.fileOf(model, id, file))}
            {...(file === "tear-sheet"
              ? { target: "_blank", rel: "noreferrer" }
              : { download: "" })}
          >
            {label}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The outcome of the backtest, if its metrics do not show it. */
function Ending({
  backtest,
  run,
  progress,
}: {
  backtest: Backtest;
  run: Run | null;
  progress: Progress;
}) {
  const { status } = backtest;
  if (!status) {
    if (backtest.symbols !== undefined) return null;
    if (run?.trouble)
      return <Notice tone={progress.tone === "bad" ? "bad" : "warn"}>{run.trouble}</Notice>;
    return (
      <Notice tone="info">
        {progress.label === "Queued"
          ? "This backtest is queued. Its log will appear below and its metrics here."
          : progress.isUp
            ? "This backtest is running. Its log appears below; its metrics appear here when it ends."
            : progress.detail}
      </Notice>
    );
  }
  if (status.successful) {
    return backtest.symbols === undefined ? (
      <Notice tone="warn">
        The backtest succeeded but returned no result. Return a dictionary from its function, or
        send one.
      </Notice>
    ) : null;
  }
  const details =
    status.status_details && status.status_details !== status.status_summary
      ? status.status_details
      : null;
  return (
    <div role="alert" className="min-w-0 rounded-md bg-bad-ground px-4 py-3 text-bad">
      <p className="font-medium [overflow-wrap:anywhere]">
        {status.status_summary || "The backtest failed."}
      </p>
      {details && (
        <pre
          tabIndex={0}
          aria-label="Error details"
          className="mt-2 max-h-80 overflow-auto rounded-md bg-surface p-3 font-mono text-xs text-ink"
        >
          {details}
        </pre>
      )}
    </div>
  );
}

/** The data that the metrics were computed from, and its defects. */
function Basis({ backtest: { basis } }: { backtest: Backtest }) {
  if (!basis) return null;
  const { notes } = basis;
  const wrong = [
    notes.missing ? `${integer(notes.missing)} without a number` : "",
    notes.duplicates ? `${integer(notes.duplicates)} with a repeated time` : "",
    notes.impossible ? `${integer(notes.impossible)} with an impossible time` : "",
    notes.unsorted ? "not in order of time" : "",
  ].filter(Boolean);
  return (
    <p className="text-sm text-soft">
      Computed from {integer(notes.sent)} account values on {integer(basis.days)} days
      {wrong.length ? ` (${wrong.join(", ")})` : ""}.{" "}
      {basis.periods_per_year
        ? `Annualised with ${basis.periods_per_year} periods a year.`
        : basis.reason}
    </p>
  );
}
