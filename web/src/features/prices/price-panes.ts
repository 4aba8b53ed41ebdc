/** The panes of a price chart: candles or a line with indicators over it, and others below. */
import type { Order, Prices } from "~/api/types";
import { type Bars, closesOf } from "~/charts/bars";
import type { Curve, Level, Pane, PanePoint } from "~/charts/panes";
import { price, quantity } from "~/format/numbers";
import { lasting } from "~/format/times";

const COLOURS = ["series-3", "series-4", "series-5", "series-6", "series-7", "series-8"];
/** An order with such a status waits in the market. */
const WAITING = /^(open|new|pending|accepted|live|active|held|partially.?filled)$/i;

/** Seconds in which a step goes from one average to the next. */
const STEP = 0.001;
/** Levels that the sentence under a chart names. */
const SAID = 8;

export function panesOf(
  prices: Prices,
  shape: "candles" | "line",
  levels: readonly Level[],
  /** When the prices were asked for, in epoch seconds. */
  now: number,
): Pane[] {
  const bars = barsOf(prices);
  const colours = new Map(
    prices.indicators.map(({ name }, place) => [name, COLOURS[place % COLOURS.length] ?? "accent"]),
  );
  const curveOf = (one: Prices["indicators"][number]): Curve => ({
    id: `indicator ${one.name}`,
    label: one.name,
    colour: colours.get(one.name) ?? "accent",
    kind: "line",
    points: one.time.map((time, place) => ({ time, value: one.value[place] ?? null })),
  });
  const line: PanePoint[] = bars
    ? closesOf(bars, now)
    : (prices.line ?? []).map((one) => ({ time: one.time, value: one.price }));
  const over = prices.indicators.filter(({ pane }) => pane === "price").map(curveOf);
  const label = bars ? `${prices.symbol} ${prices.interval_name ?? ""}`.trim() : `${prices.symbol}`;
  const found: Pane[] = [
    {
      id: "price",
      weight: 3,
      scale: "price",
      format: price,
      curves: [{ id: "price", label, colour: "accent", kind: "line", points: line }, ...over],
      levels,
      bars: shape === "candles" ? bars : undefined,
    },
  ];
  const below = prices.indicators.filter(({ pane }) => pane !== "price");
  for (const name of new Set(below.map(({ pane }) => pane))) {
    const curves = below.filter(({ pane }) => pane === name).map(curveOf);
    found.push({ id: `pane ${name}`, weight: 1, format: quantity, curves });
  }
  return found;
}

/** The average price of what was held, as steps over the bars. */
export function averageCurve(
  average: readonly { time: number; price: number | null }[],
  until: number,
): Curve {
  const points: PanePoint[] = [];
  average.forEach(({ time, price: value }, place) => {
    const before = average[place - 1];
    // The average before holds up to here, not gradually less.
    if (before) points.push({ time: time - STEP, value: before.price });
    points.push({ time, value });
  });
  const last = average.at(-1);
  if (last && last.time < until) points.push({ time: until, value: last.price });
  return { id: "average", label: "Average price", colour: "warn", kind: "line", dash: 1, points };
}

export function barsOf({ bars, interval }: Prices): Bars | undefined {
  return bars && interval && bars.time.length ? { ...bars, interval } : undefined;
}

/** Where the prices come from, for people. */
export function sourceOf({ source, price_source: there, made_from: finer, bars }: Prices): string {
  const coarser = bars?.intervals ? "; coarser ones where those are missing" : "";
  const made = `${finer ? `, made from bars of ${lasting(finer)}` : ""}${coarser}`;
  switch (source) {
    case "bars":
    case "coarser bars":
      return `Bars from the model${made}.`;
    case "exchange bars":
    case "coarser exchange bars":
      return `Bars from ${there?.exchange ?? "the exchange"}${made}.`;
    case "marks and fills":
      return "A line of marks and fills: there are no bars.";
    case "trades":
      return "A line of the prices at which it traded: there are no bars of this period.";
    default:
      return there?.problem ?? "";
  }
}

/** The average price of what is held, the prices of orders that wait, and where stops wake up. */
export function levelsOf(
  average: number | null,
  /** The last fill: before it, the average was another. */
  since: number | null,
  orders: readonly Order[],
): Level[] {
  const levels: Level[] = [];
  if (average !== null)
    levels.push({ value: average, label: `Average ${price(average)}`, colour: "accent", since });
  for (const order of orders) {
    if (!WAITING.test(order.status ?? "")) continue;
    const own = { colour: order.side === "sell" ? "down" : "up", since: order.time };
    if (order.active != null)
      levels.push({ ...own, value: order.active, label: `Stop ${price(order.active)}` });
    if (order.price != null) {
      const name = order.side === "sell" ? "Sell" : "Buy";
      levels.push({ ...own, value: order.price, label: `${name} ${price(order.price)}` });
    }
  }
  return levels;
}

/** The levels in words, whether or not the chart reaches them. */
export function levelsInWords(levels: readonly Level[]): string {
  const names = levels.slice(0, SAID).map(({ label }) => label);
  const more = levels.length > SAID ? [`${levels.length - SAID} more`] : [];
  return names.length ? `Now: ${[...names, ...more].join(", ")}.` : "";
}
