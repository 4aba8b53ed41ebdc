/** The live record beside a chosen backtest of this or another model of the project. The address holds
 * the choice. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, unwrap } from "~/api/client";
import * as ask from "~/api/queries";
import type { Glance } from "~/api/types";
import type { Axis } from "~/charts/axis";
import { ChartFigure } from "~/charts/figure/chart-figure";
import type { Pane, View } from "~/charts/panes";
import { signedPercent } from "~/features/backtests/metrics";
import { period } from "~/features/backtests/period";
import { nameOf } from "~/features/backtests/progress";
import * as backtests from "~/features/backtests/queries";
import { byName } from "~/format/names";
import { gain, percent, signedAmount } from "~/format/numbers";
import { lasting, stamp } from "~/format/times";
import { useView } from "~/ui/address";
import { Failed, Notice, Panel, Skeleton } from "~/ui/panel";
import { Choice, type Option } from "~/ui/select";
import { type Laid, laidOver, resultsAt } from "./laid-over";

const POINTS = 1_000;
const ALIGNMENTS: readonly Option[] = [
  ["", "Same calendar"],
  ["start", "From the start"],
];

const performance = (model: string) => ({
  queryKey: ["model", model, "metrics", "laid over"],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    unwrap(
      api.GET("/api/models/{model}/performance", {
        params: { path: { model }, query: { points: POINTS } },
        signal,
      }),
    ),
});

export function BacktestPanel({ project, model }: { project: string; model: string }) {
  const [{ of = model, beside = "", align = "" }, change] = useView<
    "of" | "beside" | "align" | "laid"
  >();
  const { data, isPending } = useInfiniteQuery(backtests.list(of));
  const { data: models = [], isPending: isAsking } = useQuery(ask.models(project));
  const known = data?.pages.flatMap((page) => page.items) ?? [];
  const done = known.filter(({ counts }) => counts.account_values > 0);
  const options = done.map((one): Option => {
    const over = period(one.start_time, one.stop_time);
    return [one.backtest_id, `${nameOf(one)}${over && ` (${over})`}`];
  });
  if (beside && !done.some((one) => one.backtest_id === beside)) options.push(beside);
  const hasOthers = models.some(({ id }) => id !== model);
  if ((isPending && of === model) || isAsking)
    return (
      <Panel title="Against a backtest">
        <Skeleton rows={1} />
      </Panel>
    );
  if (options.length === 0 && !hasOthers) return null;
  return (
    <Panel
      title="Against a backtest"
      aside={
        <span className="flex min-w-0 flex-wrap gap-2">
          {hasOthers && (
            <Choice
              label="Backtests of"
              className="max-w-full sm:max-w-96"
              value={of}
              options={modelOptions(models, model)}
              choose={(next) => change({ of: next === model ? "" : next, beside: "", laid: "" })}
            />
          )}
          <Choice
            label="Backtest"
            className="max-w-full sm:max-w-96"
            value={beside}
            options={[["", "None"], ...options]}
            choose={(next) => change({ beside: next, laid: "" })}
          />
          {beside && (
            <Choice
              label="Alignment"
              value={align === "start" ? align : ""}
              options={ALIGNMENTS}
              choose={(next) => change({ align: next, laid: "" })}
            />
          )}
        </span>
      }
    >
      {beside ? (
        <Beside model={model} of={of} id={beside} axis={align === "start" ? "start" : "time"} />
      ) : (
        <p className="text-soft">
          {options.length > 0 || !data
            ? "Choose a backtest to lay the live record over it."
            : "This model has no backtest with a result. Choose another model."}
        </p>
      )}
    </Panel>
  );
}

/** This model first, the others by name. */
function modelOptions(models: readonly Glance[], model: string): Option[] {
  const own = models.find(({ id }) => id === model);
  const others = models.filter(({ id }) => id !== model);
  others.sort((one, other) => byName(one.name, other.name));
  return [
    [model, own ? `${own.name} (this model)` : "This model"],
    ...others.map(({ id, name }): Option => [id, name]),
  ];
}

interface Laying {
  model: string;
  /** The model that the backtest is of. */
  of: string;
  /** The backtest. */
  id: string;
  axis: Axis;
}

function Beside({ model, of, id, axis }: Laying) {
  const live = useQuery(performance(model));
  const tested = useQuery(backtests.equity(of, id, null));
  const facts = useQuery(backtests.facts(of, id));
  const isReturn = (live.data?.returns.length ?? 0) > 1;
  const laid = useMemo(() => {
    if (!live.data || !tested.data) return null;
    const own = isReturn ? live.data.returns : live.data.profit;
    return laidOver(own, tested.data.items, isReturn, axis);
  }, [live.data, tested.data, isReturn, axis]);
  const name = facts.data ? nameOf(facts.data) : "Backtest";
  const currency = live.data?.currency ?? null;
  const panes = useMemo(
    () => (laid ? panesOf(laid, name, isReturn, currency) : []),
    [laid, name, isReturn, currency],
  );
  const error = live.error ?? tested.error;
  if (error) return <Failed error={error} retry={() => void tested.refetch()} />;
  if (!live.data || !tested.data) return <Skeleton rows={5} />;
  if (!laid) {
    return (
      <Notice tone="info">
        {axis === "time"
          ? "The live record and this backtest have no time in common. Align them from the start."
          : "One of them has no second value yet."}
      </Notice>
    );
  }
  const quote = facts.data?.quote_asset ?? null;
  const isOther = !isReturn && quote !== null && currency !== null && quote !== currency;
  return (
    <ChartFigure
      key={`${of} ${id} ${axis}`}
      label={`Live beside ${name}`}
      words={(seen) => inWords(laid, seen, axis, isReturn, currency)}
      caption={
        isReturn
          ? "Returns without deposits and withdrawals."
          : `In money, because the capital of the live model is not known.${isOther ? ` The backtest counts in ${quote}, the live model in ${currency}.` : ""}`
      }
      panes={panes}
      axis={axis}
      all={laid.all}
      height={280}
      address="laid"
    />
  );
}

function panesOf(laid: Laid, name: string, isReturn: boolean, currency: string | null): Pane[] {
  return [
    {
      id: "laid",
      weight: 1,
      ...(isReturn ? { scale: "percent" as const } : {}),
      format: isReturn ? percent : (value) => signedAmount(value, currency),
      exact: isReturn ? percent : (value) => gain(value, currency),
      curves: [
        { id: "live", label: "Live", colour: "accent", kind: "line", points: laid.live },
        {
          id: "tested",
          label: name,
          colour: "series-4",
          kind: "line",
          dash: 1,
          points: laid.tested,
        },
      ],
    },
  ];
}

/** Over what both cover of the range in view. */
function inWords(
  laid: Laid,
  seen: View,
  axis: Axis,
  isReturn: boolean,
  currency: string | null,
): string {
  const end = Math.min(seen.to, laid.common.to);
  const [own, other] = resultsAt(laid, end);
  if (own === null || other === null) return "There is nothing to compare in this range.";
  const said = (value: number) => (isReturn ? signedPercent(value) : gain(value, currency));
  const when =
    axis === "start"
      ? `${lasting(end)} after the start of each`
      : `From ${stamp(laid.common.from)} to ${stamp(end)}`;
  return `${when}, live made ${said(own)} and the backtest ${said(other)}.`;
}
