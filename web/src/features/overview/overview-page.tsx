/** A live model at a glance: profit and loss, positions, its run, newest orders and log lines. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import * as ask from "~/api/queries";
import type { Pnl } from "~/api/types";
import { BenchmarkPanel } from "~/features/backtests/benchmark";
import * as backtests from "~/features/backtests/queries";
import { ChangesPanel } from "~/features/changes/changes-panel";
import { ScreenerTable } from "~/features/events/screener-table";
import { LogView } from "~/features/logs/log-view";
import { NewestOrders } from "~/features/orders/order-list";
import { ModelRules } from "~/features/watching/rules/model-rules";
import { dated } from "~/format/csv";
import { money, plural, price, quantity } from "~/format/numbers";
import { useView } from "~/ui/address";
import { Gain } from "~/ui/figures";
import { Empty, Notice, Panel, Skeleton } from "~/ui/panel";
import { Choice } from "~/ui/select";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { Time } from "~/ui/time";
import { BacktestPanel } from "./backtest-panel";
import { Doubts } from "./doubts";
import { MetricCards } from "./metric-cards";
import { PnlFigure } from "./pnl-figure";
import { RunFacts, UsageFacts } from "./run-facts";
import { sumsOf } from "./sums";
import { Unexplained } from "./unexplained";

const POSITION_FILE: readonly FileColumn<Pnl["positions"][number]>[] = [
  ["symbol", (one) => one.symbol],
  ["size", (one) => one.size],
  ["average_price", (one) => one.average_price],
  ["last_price", (one) => one.last_price],
  ["last_price_date", (one) => dated(one.last_price_time)],
  ["unrealized", (one) => one.unrealized],
  ["currency", (one) => one.currency],
];

export function OverviewPage() {
  const { model: id = "", project = "" } = useParams({ strict: false });
  const { data: model } = useQuery(ask.model(id));
  const [{ currency = null }, change] = useView<"currency">();
  const { data: pnl } = useQuery(ask.pnl(id, ask.CHART_POINTS, null, currency));
  if (!model) return null;
  const isScreener = model.type === "screener";
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 xl:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="grid min-w-0 content-start gap-4">
        {isScreener ? (
          <Panel
            title="Latest result"
            flush
            aside={<More to="screener" project={project} model={id} label="History" />}
          >
            <ScreenerTable model={id} />
          </Panel>
        ) : (
          <Panel
            title="Profit and loss"
            aside={
              pnl && (
                <Currencies
                  pnl={pnl}
                  chosen={currency}
                  choose={(name) => change({ currency: name })}
                />
              )
            }
          >
            {pnl && <Sums pnl={pnl} />}
            <PnlFigure project={project} model={id} chosen={currency} />
            {pnl && <Doubts pnl={pnl} />}
            {pnl && <Warnings pnl={pnl} />}
            {(model.counts["account-value"] ?? 0) > 0 && <Unexplained model={id} />}
          </Panel>
        )}
        {!isScreener && (
          <>
            <BenchmarkPanel
              symbols={[...model.symbols, ...(pnl?.positions ?? []).map(({ symbol }) => symbol)]}
              comparing={backtests.liveBenchmark(id)}
            />
            <BacktestPanel project={project} model={id} />
          </>
        )}
        {!isScreener && (
          <Panel
            title="Newest orders"
            note="in the order they arrived"
            flush
            aside={<More to="orders" project={project} model={id} label="All orders" />}
          >
            <NewestOrders model={id} most={ask.NEWEST} />
          </Panel>
        )}
        {!isScreener && <ChangesPanel model={id} />}
        <Panel
          title="Log"
          flush
          aside={<More to="logs" project={project} model={id} label="Whole log" />}
        >
          <LogView model={id} brief />
        </Panel>
      </div>
      <div className="grid min-w-0 content-start gap-4 sm:grid-cols-2 xl:grid-cols-1">
        <RunFacts model={model} />
        <UsageFacts model={model} />
        <ModelRules project={project} model={id} />
        {!isScreener && <Positions pnl={pnl} />}
        <MetricCards project={project} model={id} />
      </div>
    </div>
  );
}

function More({
  to,
  project,
  model,
  label,
}: {
  to: "orders" | "logs" | "screener";
  project: string;
  model: string;
  label: string;
}) {
  return (
    <Link to={`/$project/$model/${to}`} params={{ project, model }} className="link text-sm">
      {label}
    </Link>
  );
}

function Sums({ pnl }: { pnl: Pnl }) {
  const { currency, items } = sumsOf(pnl);
  return (
    <dl className="mb-4 flex flex-wrap gap-x-8 gap-y-2 empty:hidden">
      {items.map(({ name, value, isGain }, place) => {
        const looks = place === 0 ? "text-2xl font-semibold" : "text-lg";
        return (
          <Sum key={name} name={name}>
            {isGain ? (
              <Gain value={value} currency={currency} className={looks} />
            ) : (
              <span className={`num ${looks}`}>{money(value, currency)}</span>
            )}
          </Sum>
        );
      })}
    </dl>
  );
}

function Sum({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="flex flex-col justify-end">
      <dt className="text-xs text-soft">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Currencies({
  pnl,
  chosen,
  choose,
}: {
  pnl: Pnl;
  chosen: string | null;
  choose: (currency: string) => void;
}) {
  const names = Object.keys(pnl.by_currency);
  if (names.length < 2)
    return (
      <span className="text-sm text-soft">
        {pnl.source === "model" ? "as reported by the model" : ""}
      </span>
    );
  return (
    <Choice label="Currency" value={chosen ?? pnl.currency ?? ""} options={names} choose={choose} />
  );
}

function Warnings({ pnl }: { pnl: Pnl }) {
  if (pnl.warnings.length === 0) return null;
  const count = pnl.counts.oversold + pnl.counts.unpriced;
  return (
    <details className="mt-3">
      <summary className="cursor-pointer text-warn">
        {plural(count, "order is", "orders are")} not fully counted:{" "}
        {plural(pnl.counts.unpriced, "without a price", "without a price")},{" "}
        {plural(pnl.counts.oversold, "sold more than was held", "sold more than was held")}
      </summary>
      <ul className="mt-2 grid gap-2">
        {pnl.warnings.slice(0, 20).map((one) => (
          <li key={one.order_id}>
            <Notice tone="warn">{one.message}</Notice>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Positions({ pnl }: { pnl: Pnl | undefined }) {
  const held = pnl?.positions.filter((one) => one.size !== 0) ?? [];
  return (
    <Panel
      title="Positions"
      flush
      aside={<TableFile name="Positions" columns={POSITION_FILE} rows={held} />}
    >
      {!pnl ? (
        <Skeleton rows={2} />
      ) : held.length === 0 ? (
        <Empty title="No open positions" />
      ) : (
        <ul>
          {held.map((one) => (
            <li key={one.symbol} className="border-line px-4 py-2.5 not-first:border-t">
              <div className="flex justify-between gap-3">
                <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{one.symbol}</span>
                <Gain value={one.unrealized} currency={one.currency} />
              </div>
              <div className="flex flex-wrap justify-between gap-x-3 text-sm text-soft">
                <span className="num">
                  {quantity(one.size)} @ {price(one.average_price)}
                </span>
                <span className="num" title="Last known price">
                  {price(one.last_price)} <Time at={one.last_price_time} as="ago" />
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
