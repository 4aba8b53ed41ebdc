/** The prices of a symbol during a backtest, with its trades. The address holds symbol and range. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { ChartFigure } from "~/charts/figure/chart-figure";
import { type View, wanted } from "~/charts/panes";
import * as ask from "~/features/backtests/queries";
import type { Backtest } from "~/features/backtests/types";
import { PriceChoices } from "~/features/prices/price-choices";
import { inWords } from "~/features/prices/price-figure";
import { averageCurve, panesOf, sourceOf } from "~/features/prices/price-panes";
import { useView } from "~/ui/address";
import { Failed, Notice, Panel, Skeleton } from "~/ui/panel";
import { TradeDetail } from "./trade-detail";

const HEIGHT = 420;
/** Where other parts of the page find it. */
export const PRICES = "prices-of-backtest";

export function PricePanel({ model, backtest }: { model: string; backtest: Backtest }) {
  const id = backtest.backtest_id;
  const [search, change] = useView<"symbol" | "interval" | "shape">();
  const asked = { symbol: search.symbol ?? "", interval: search.interval ?? "", view: null };
  const whole = useQuery(ask.prices(model, id, asked));
  const [opened, setOpened] = useState<number | null>(null);
  const symbol = whole.data?.symbol ?? "";
  const symbols = whole.data?.symbols.map((one) => one.symbol) ?? [];
  const shape = search.shape === "line" ? "line" : "candles";
  return (
    <Panel
      id={PRICES}
      title="Prices"
      aside={
        symbol && (
          <PriceChoices
            symbols={[...new Set([...symbols, symbol])]}
            symbol={symbol}
            interval={asked.interval}
            shape={shape}
            change={change}
          />
        )
      }
    >
      {whole.error ? (
        <Failed error={whole.error} retry={() => void whole.refetch()} />
      ) : !whole.data ? (
        <Skeleton rows={8} />
      ) : (
        <>
          <WithoutBars prices={whole.data} />
          {whole.data.source !== "nothing" && (
            <Figure
              key={`${symbol} ${asked.interval}`}
              model={model}
              id={id}
              whole={whole.data}
              interval={asked.interval}
              shape={shape}
              open={setOpened}
            />
          )}
        </>
      )}
      <TradeDetail model={model} id={id} index={opened} close={() => setOpened(null)} />
    </Panel>
  );
}

function Figure({
  model,
  id,
  whole,
  interval,
  shape,
  open,
}: {
  model: string;
  id: string;
  whole: ask.BacktestPrices;
  interval: string;
  shape: "candles" | "line";
  open: (index: number) => void;
}) {
  const [seen, setSeen] = useState<View | null>(null);
  const symbol = whole.symbol ?? "";
  const near = useQuery({
    ...ask.prices(model, id, { symbol, interval, view: seen }),
    enabled: seen !== null,
  });
  const shown = (seen && near.data?.symbol === symbol && near.data) || whole;
  const { from, to } = whole;
  const all = useMemo<View>(() => ({ from: from ?? 0, to: to ?? 0 }), [from, to]);
  const panes = useMemo(() => {
    const found = panesOf(shown, shape, [], all.to);
    const [first] = found;
    if (first && shown.average.length > 0)
      first.curves = [...first.curves, averageCurve(shown.average, shown.to ?? 0)];
    return found;
  }, [shown, shape, all]);
  const trades = useMemo(
    () => shown.fills.items.map((one) => ({ ...one, id: one.order_id })),
    [shown],
  );
  const onSeen = useCallback((next: View) => setSeen((now) => wanted(next, all, now)), [all]);
  const onTrade = useCallback(
    (mark: string) => {
      if (/^\d+$/.test(mark)) open(Number(mark));
    },
    [open],
  );
  return (
    <ChartFigure
      label={`Prices of ${symbol} during the backtest`}
      words={(range) => inWords(shown, panes[0]?.curves[0]?.points ?? [], range)}
      caption={`${sourceOf(shown)} ${shown.reason ?? "Arrows are trades: press one to open it, or come closer where a number counts several."}`}
      panes={panes}
      trades={trades}
      all={all}
      onSeen={onSeen}
      onTrade={onTrade}
      height={HEIGHT}
      address="prices"
    />
  );
}

/** Nothing is drawn in place of bars that nobody sent: it says so, and how to send them. */
function WithoutBars({ prices }: { prices: ask.BacktestPrices }) {
  if (prices.bars || prices.symbol === null) return null;
  return (
    <div className="mb-3">
      <Notice tone="info">
        There are no bars of {prices.symbol} in this period
        {prices.price_source?.problem ? ` (${prices.price_source.problem})` : ""}. To see candles,
        send them with <code className="font-mono text-sm">POST /v1/live/bars</code> and a key of
        this model or project: bars of an hour or longer may be of any age.{" "}
        <a className="underline" href="/docs/prices/">
          How to send bars
        </a>
      </Notice>
    </div>
  );
}
