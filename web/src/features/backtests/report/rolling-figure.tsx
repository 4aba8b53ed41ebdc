/** Rolling Sharpe ratio and volatility over the half year before each day. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { ChartFigure } from "~/charts/figure/chart-figure";
import { type Pane, seenOf, type View } from "~/charts/panes";
import * as ask from "~/features/backtests/queries";
import { integer, percent, ratio } from "~/format/numbers";
import { Failed, Panel, Skeleton } from "~/ui/panel";
import { outline } from "./curve-words";

export function RollingFigure({ model, id }: { model: string; id: string }) {
  const { data, error, refetch } = useQuery(ask.rolling(model, id));
  const panes = useMemo<Pane[]>(
    () => [
      {
        id: "sharpe",
        weight: 1,
        format: ratio,
        curves: [
          {
            id: "sharpe",
            label: "Sharpe ratio",
            colour: "accent",
            kind: "line",
            points: data?.sharpe ?? [],
          },
        ],
      },
      {
        id: "volatility",
        weight: 1,
        scale: "percent",
        format: percent,
        curves: [
          {
            id: "volatility",
            label: "Volatility",
            colour: "series-4",
            kind: "line",
            points: data?.volatility ?? [],
          },
        ],
      },
    ],
    [data],
  );
  const [first, last] = [data?.sharpe[0], data?.sharpe.at(-1)];
  const all: View | null = first && last ? { from: first.time, to: last.time } : null;
  const words = (seen: View) => {
    const { low, high, last: now } = outline(seenOf(data?.sharpe ?? [], seen));
    if (!data || !low || !high || now === null) return "There is no value in this range.";
    return `Over the ${integer(data.window)} returns before each day the Sharpe ratio was between ${ratio(low.value ?? 0)} and ${ratio(high.value ?? 0)}; it ends at ${ratio(now)}.`;
  };
  return (
    <Panel title="Rolling">
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={5} />
      ) : !all ? (
        <p className="text-soft">{data.reason ?? "It is too short for a rolling window."}</p>
      ) : (
        <ChartFigure
          label="Rolling Sharpe ratio and volatility"
          words={words}
          panes={panes}
          all={all}
          height={280}
          address="rolling"
        />
      )}
    </Panel>
  );
}
