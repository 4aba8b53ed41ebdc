/** The chart of a backtest: account value, drawdown, trades and indicators. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { ChartFigure } from "~/charts/figure/chart-figure";
import {
  closer,
  drawdownPane,
  type Pane,
  type PanePoint,
  seenOf,
  type View,
  wanted,
} from "~/charts/panes";
import * as ask from "~/features/backtests/queries";
import type { Backtest } from "~/features/backtests/types";
import { amount, integer, money, ratio } from "~/format/numbers";
import { useView } from "~/ui/address";
import { Failed, Panel, Skeleton } from "~/ui/panel";
import { drawdownInWords, equityInWords } from "./curve-words";

const SHOWN_AT_FIRST = 2;
const NO_INDICATORS: readonly ask.Indicator[] = [];
const COLOURS = ["series-3", "series-4", "series-5", "series-6", "series-7", "series-8"];

export function EquityFigure({ model, backtest }: { model: string; backtest: Backtest }) {
  const id = backtest.backtest_id;
  const currency = backtest.quote_asset ?? null;
  const [asked, setAsked] = useState<View | null>(null);
  const [{ indicators: named }, change] = useView<"indicators">();
  const equity = useQuery(ask.equity(model, id, null));
  const drawdown = useQuery(ask.drawdown(model, id, null));
  const hasIndicators = Object.keys(backtest.indicators ?? {}).length > 0;
  const indicators = useQuery({ ...ask.indicators(model, id, null), enabled: hasIndicators });
  const isCloser = asked !== null;
  const equityDetail = useQuery({ ...ask.equity(model, id, asked), enabled: isCloser });
  const drawdownDetail = useQuery({ ...ask.drawdown(model, id, asked), enabled: isCloser });
  const indicatorDetail = useQuery({
    ...ask.indicators(model, id, asked),
    enabled: isCloser && hasIndicators,
  });
  const trades = useQuery({ ...ask.trades(model, id), enabled: backtest.counts.trades > 0 });

  const whole = equity.data?.items;
  const all = useMemo<View | null>(() => {
    const [first, last] = [whole?.[0], whole?.at(-1)];
    return first && last ? { from: first.time, to: last.time } : null;
  }, [whole]);
  const isThinned = (equity.data?.total ?? 0) > (whole?.length ?? 0);
  const onSeen = useCallback(
    (seen: View) => {
      if (all && (isThinned || hasIndicators)) setAsked((now) => wanted(seen, all, now));
    },
    [all, isThinned, hasIndicators],
  );
  const names = indicators.data?.items ?? NO_INDICATORS;
  const left = useMemo(() => {
    const shown = named === undefined ? null : new Set(named.split(","));
    return new Set(
      names
        .filter(({ name }, place) => (shown ? !shown.has(name) : place >= SHOWN_AT_FIRST))
        .map(({ name }) => name),
    );
  }, [named, names]);
  const hide = (some: ReadonlySet<string>) => {
    const kept = names.filter(({ name }) => !some.has(name)).map(({ name }) => name);
    change({ indicators: kept.join(",") || "none" });
  };

  // While the next detail is loading, the one before it stays.
  const panes = useMemo<Pane[]>(() => {
    const near = (more: readonly PanePoint[] | undefined, most: readonly PanePoint[]) =>
      isCloser && more ? closer(most, more) : most;
    const found: Pane[] = [
      {
        id: "equity",
        weight: 3,
        format: (value) => amount(value, currency),
        curves: [
          {
            id: "equity",
            label: "Account value",
            colour: "accent",
            kind: "area",
            points: near(equityDetail.data?.items, whole ?? []),
          },
        ],
      },
      drawdownPane(near(drawdownDetail.data?.items, drawdown.data?.items ?? [])),
    ];
    names.forEach((one, place) => {
      if (left.has(one.name)) return;
      const more = indicatorDetail.data?.items.find(({ name }) => name === one.name);
      found.push({
        id: `indicator ${one.name}`,
        weight: 1,
        format: ratio,
        curves: [
          {
            id: `indicator ${one.name}`,
            label: one.display_name,
            colour: COLOURS[place % COLOURS.length] ?? "accent",
            kind: "line",
            points: near(more?.items, one.items),
          },
        ],
      });
    });
    return found;
  }, [
    whole,
    currency,
    drawdown.data,
    names,
    left,
    isCloser,
    equityDetail.data,
    drawdownDetail.data,
    indicatorDetail.data,
  ]);
  const marked = useMemo(
    () =>
      (trades.data?.items ?? [])
        .filter(({ side }) => /^(buy|sell)$/i.test(side))
        .map(({ index, time, side }) => ({ id: String(index), time, side })),
    [trades.data],
  );

  const error = equity.error ?? drawdown.error;
  const shown = panes.length - 2;
  const words = (seen: View) =>
    `${equityInWords(seenOf(whole ?? [], seen), (value) => money(value, currency))} ${drawdownInWords(seenOf(drawdown.data?.items ?? [], seen))}`;
  return (
    <Panel title="Account value and drawdown">
      {error ? (
        <Failed
          error={error}
          retry={() => void Promise.all([equity.refetch(), drawdown.refetch()])}
        />
      ) : !equity.data || !drawdown.data || (hasIndicators && indicators.isPending) ? (
        <Skeleton rows={8} />
      ) : !all ? (
        <p className="text-soft">{drawdown.data.reason ?? "There are no account values."}</p>
      ) : (
        <FigureWithIndicators
          words={words}
          panes={panes}
          trades={marked}
          all={all}
          onSeen={onSeen}
          height={400 + shown * 110}
          caption={tradesInWords(backtest.counts.trades, marked.length, trades.data?.isAll ?? true)}
          names={names}
          left={left}
          hide={hide}
        />
      )}
    </Panel>
  );
}

function FigureWithIndicators({
  names,
  left,
  hide,
  ...figure
}: Omit<React.ComponentProps<typeof ChartFigure>, "label" | "aside"> & {
  names: readonly ask.Indicator[];
  left: ReadonlySet<string>;
  hide: (names: ReadonlySet<string>) => void;
}) {
  return (
    <div className="grid gap-3">
      <ChartFigure label="Account value and drawdown over time" address="range" {...figure} />
      {names.length > 0 && (
        <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
          <legend className="float-left mr-4 text-soft">Indicators</legend>
          {names.map(({ name, display_name: shown }) => (
            <label key={name} className="flex min-h-7 items-center gap-1.5">
              <input
                type="checkbox"
                className="size-4 accent-accent"
                checked={!left.has(name)}
                onChange={(event) => {
                  const next = new Set(left);
                  if (event.target.checked) next.delete(name);
                  else next.add(name);
                  hide(next);
                }}
              />
              {shown}
            </label>
          ))}
        </fieldset>
      )}
    </div>
  );
}

function tradesInWords(count: number, marked: number, isAll: boolean): string {
  if (count === 0) return "";
  if (!isAll)
    return `Arrows are the latest ${integer(marked)} of ${integer(count)} trades; a number counts trades that are drawn as one.`;
  return "Arrows are trades; a number counts trades that are drawn as one.";
}
