/** Profit and loss of a live model over time, with its orders, versions and downtime. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import * as ask from "~/api/queries";
import type { OrderMark } from "~/api/types";
import { ChartFigure } from "~/charts/figure/chart-figure";
import { type Pane, seenOf, type View, wanted } from "~/charts/panes";
import { useLimits } from "~/features/watching/limit-panes";
import { gain, signedAmount } from "~/format/numbers";
import { Failed } from "~/ui/panel";
import { joined, spanned, summary } from "./pnl-curve";

const HEIGHT = 320;
/** Pixels for each pane below it. */
const MORE = 120;
const NO_ORDERS: readonly OrderMark[] = [];

/** `chosen` is the currency a person chose; without one, the server takes the model's own. */
export function PnlFigure({
  project,
  model,
  chosen,
}: {
  project: string;
  model: string;
  chosen: string | null;
}) {
  const [asked, setAsked] = useState<View | null>(null);
  const whole = useQuery(ask.pnl(model, ask.CHART_POINTS, null, chosen));
  const detail = useQuery({
    ...ask.pnl(model, ask.CHART_POINTS, asked, chosen),
    enabled: asked !== null,
    placeholderData: (old) => old,
  });
  const marked = useQuery({ ...ask.orderMarks(model, asked), placeholderData: (old) => old });
  const orders = marked.data?.items ?? NO_ORDERS;
  const points = useMemo(
    () => joined(whole.data?.series ?? [], (asked && detail.data?.series) || [], orders),
    [whole.data, asked, detail.data, orders],
  );
  const marks = whole.data?.marks;
  const { from, to } = spanned(points, marks ?? []) ?? {};
  const all = useMemo<View | null>(
    () => (from === undefined || to === undefined ? null : { from, to }),
    [from, to],
  );
  // The server thins the curve out, or counts orders, only where there are more than asked for.
  const isThinned =
    (whole.data?.series.length ?? 0) >= ask.CHART_POINTS * 0.9 || marked.data?.grouped === true;
  const onSeen = useCallback(
    (seen: View) => {
      if (all) setAsked((now) => (isThinned || now ? wanted(seen, all, now) : null));
    },
    [all, isThinned],
  );
  const currency = whole.data?.series_currency ?? chosen;
  const { isPending, profit, below } = useLimits(project, model);
  const panes = useMemo<Pane[]>(
    () => [
      {
        id: "pnl",
        weight: 1,
        format: (value) => signedAmount(value, currency),
        exact: (value) => gain(value, currency),
        curves: [{ id: "pnl", label: "Profit and loss", colour: "up", kind: "gain", points }],
        levels: profit,
      },
      ...below,
    ],
    [points, currency, profit, below],
  );

  if (whole.error) return <Failed error={whole.error} retry={() => void whole.refetch()} />;
  // Its orders may be known before: they are no curve.
  if (whole.isPending || isPending || !all) {
    return whole.isPending || isPending ? (
      <div className="skeleton" style={{ height: HEIGHT }} />
    ) : (
      <p className="py-8 text-center text-soft">
        The curve starts with the first order that has a price.
      </p>
    );
  }
  return (
    <ChartFigure
      label="Profit and loss over time"
      words={(seen) => summary(seenOf(points, seen), currency)}
      caption="Arrows are orders; a number counts orders that are drawn as one."
      panes={panes}
      trades={orders}
      marks={marks}
      all={all}
      onSeen={onSeen}
      height={HEIGHT + below.length * MORE}
      legend={below.length > 0}
      address="range"
    />
  );
}
