/**
 * Several curves over one axis of time, in panes below one another, with what the pointer is at.
 * Loaded when needed. What it shows, whoever uses it also tells in words and as a table.
 */
import {
  AreaSeries,
  BaselineSeries,
  createChart,
  createSeriesMarkers,
  type IChartApi,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  LineSeries,
  LineStyle,
  type SeriesType,
  type Time,
  type UTCTimestamp,
} from "lightweight-charts";
import { useEffect, useRef, useState } from "react";
import { stamp } from "~/format/times";
import { colour, watch } from "~/ui/appearance";
import { axisLabel } from "./axis";
import { bucketed, counted, type Traded } from "./markers";
import { type Curve, drawn, type Pane, type View } from "./panes";

export interface PaneChartProps {
  panes: readonly Pane[];
  /** Marked on the first curve. */
  trades?: readonly Traded[];
  /** Seconds since the epoch, or since each curve's own start. */
  axis?: "time" | "start";
  /** What is shown; null shows all. A new object moves the chart there. */
  view: View | null;
  onView: (view: View) => void;
}

interface Drawn {
  chart: IChartApi;
  series: Map<string, ISeriesApi<SeriesType>>;
  markers: ISeriesMarkersPluginApi<Time> | null;
}

interface Legend {
  top: number;
  rows: { id: string; label: string; colour: string; text: string }[];
}

const DASHES = [
  LineStyle.Solid,
  LineStyle.Dashed,
  LineStyle.Dotted,
  LineStyle.LargeDashed,
] as const;

export function PaneChart({ panes, trades = [], axis = "time", view, onView }: PaneChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const made = useRef<Drawn | null>(null);
  const latest = useRef({ panes, trades, onView });
  latest.current = { panes, trades, onView };
  const [legends, setLegends] = useState<Legend[]>([]);
  const shape = panes
    .map(({ id, curves }) => `${id}:${curves.map((one) => `${one.id} ${one.kind}`).join()}`)
    .join(";");
  const moved = useRef<View | null | undefined>(undefined);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart is made anew for other curves only
  useEffect(() => {
    if (!place.current) return;
    const chart = make(place.current, latest.current.panes, axis);
    made.current = chart;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const redraw = () => {
      mark(chart, latest.current.trades);
      setLegends(legendsOf(chart, latest.current.panes, null));
      if (timer) clearTimeout(timer);
      timer = setTimeout(() => {
        const seen = seenBy(chart);
        if (seen) latest.current.onView(seen);
      }, 250);
    };
    chart.chart.timeScale().subscribeVisibleLogicalRangeChange(redraw);
    chart.chart.subscribeCrosshairMove(({ time }) =>
      setLegends(legendsOf(chart, latest.current.panes, time === undefined ? null : Number(time))),
    );
    const resized = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const before = chart.chart.timeScale().getVisibleLogicalRange();
      chart.chart.resize(entry.contentRect.width, entry.contentRect.height);
      // It does not fit itself again: what was visible stays visible.
      if (before) chart.chart.timeScale().setVisibleLogicalRange(before);
      redraw();
    });
    resized.observe(place.current);
    const unwatch = watch(() => {
      paint(chart, latest.current.panes);
      redraw();
    });
    return () => {
      if (timer) clearTimeout(timer);
      unwatch();
      resized.disconnect();
      chart.chart.remove();
      made.current = null;
      moved.current = undefined;
    };
  }, [shape, axis]);

  useEffect(() => {
    const chart = made.current;
    if (!chart) return;
    const before = moved.current === undefined ? null : seenBy(chart);
    const wasWhole = before === null || isWhole(chart);
    fill(chart, panes);
    paint(chart, panes);
    const scale = chart.chart.timeScale();
    if (moved.current !== view) {
      if (view) show(chart, view);
      else scale.fitContent();
    } else if (wasWhole || !before) scale.fitContent();
    else show(chart, before);
    moved.current = view;
    mark(chart, latest.current.trades);
    setLegends(legendsOf(chart, panes, null));
  }, [panes, view]);

  useEffect(() => {
    if (made.current) mark(made.current, trades);
  }, [trades]);

  return (
    <div className="relative h-full min-h-0 overflow-hidden">
      <div ref={place} aria-hidden="true" className="absolute inset-0" />
      {legends.map(({ top, rows }, pane) => (
        <div
          key={panes[pane]?.id ?? pane}
          aria-hidden="true"
          className="pointer-events-none absolute left-1 z-10 flex max-w-[75%] flex-wrap gap-x-3 text-xs"
          style={{ top: top + 4 }}
        >
          {rows.map((row) => (
            <span key={row.id} className="flex min-w-0 items-center gap-1.5">
              <span className="h-0.5 w-3 shrink-0" style={{ backgroundColor: row.colour }} />
              <span className="truncate text-soft">{row.label}</span>
              <span className="num whitespace-nowrap">{row.text}</span>
            </span>
          ))}
        </div>
      ))}
    </div>
  );
}

function make(place: HTMLElement, panes: readonly Pane[], axis: "time" | "start"): Drawn {
  const text = (time: number) => (axis === "time" ? stamp(time) : sinceStart(time));
  const chart = createChart(place, {
    width: place.clientWidth,
    height: place.clientHeight,
    layout: {
      // Its logo writes a style element, which our policy refuses; the page names it with a link.
      attributionLogo: false,
      background: { color: "transparent" },
      fontFamily: getComputedStyle(document.body).fontFamily,
      fontSize: 11,
      panes: { enableResize: false },
    },
    rightPriceScale: { borderVisible: false, minimumWidth: 64 },
    timeScale: {
      borderVisible: false,
      timeVisible: true,
      minBarSpacing: 0.001,
      enableConflation: true,
      fixLeftEdge: true,
      fixRightEdge: true,
      tickMarkFormatter: (time: Time, kind: number) =>
        axis === "time" ? axisLabel(Number(time), kind) : sinceStart(Number(time)),
    },
    localization: { timeFormatter: (time: Time) => text(Number(time)) },
    handleScale: { axisPressedMouseMove: { price: false } },
    // A page scrolls on; who wants to zoom pinches, or holds Ctrl.
    handleScroll: { mouseWheel: false, vertTouchDrag: false },
  });
  const series = new Map<string, ISeriesApi<SeriesType>>();
  panes.forEach((pane, index) => {
    for (const curve of pane.curves) series.set(curve.id, add(chart, pane, curve, index));
    chart.priceScale("right", index).applyOptions({ scaleMargins: { top: 0.16, bottom: 0.06 } });
    chart.panes()[index]?.setStretchFactor(pane.weight);
  });
  const first = panes[0]?.curves[0] && series.get(panes[0].curves[0].id);
  const made = {
    chart,
    series,
    markers: first ? createSeriesMarkers<Time>(first as ISeriesApi<"Line">, []) : null,
  };
  paint(made, panes);
  return made;
}

function add(chart: IChartApi, pane: Pane, curve: Curve, index: number): ISeriesApi<SeriesType> {
  const common = {
    lineWidth: 2,
    priceLineVisible: false,
    lastValueVisible: pane.curves.length === 1,
    priceFormat: { type: "custom", formatter: pane.written, minMove: 1e-8 },
  } as const;
  const lineStyle = DASHES[(curve.dash ?? 0) % DASHES.length] ?? LineStyle.Solid;
  if (curve.kind === "area")
    return chart.addSeries(AreaSeries, { ...common, lineStyle }, index) as ISeriesApi<SeriesType>;
  if (curve.kind === "below") {
    const baseValue = { type: "price", price: 0 } as const;
    return chart.addSeries(
      BaselineSeries,
      { ...common, lineWidth: 1, baseValue },
      index,
    ) as ISeriesApi<SeriesType>;
  }
  return chart.addSeries(LineSeries, { ...common, lineStyle }, index) as ISeriesApi<SeriesType>;
}

function fill({ series }: Drawn, panes: readonly Pane[]): void {
  for (const { curves } of panes) {
    for (const { id, points } of curves) {
      const data = drawn(points).map(({ time, value }) =>
        value === null ? { time: time as UTCTimestamp } : { time: time as UTCTimestamp, value },
      );
      series.get(id)?.setData(data);
    }
  }
}

function paint({ chart, series }: Drawn, panes: readonly Pane[]): void {
  const line = colour("line");
  chart.applyOptions({
    layout: {
      textColor: colour("soft"),
      panes: { separatorColor: line, separatorHoverColor: line },
    },
    grid: { vertLines: { visible: false }, horzLines: { color: line } },
    crosshair: {
      horzLine: { color: colour("field-line"), labelBackgroundColor: colour("accent") },
      vertLine: { color: colour("field-line"), labelBackgroundColor: colour("accent") },
    },
  });
  for (const { curves } of panes) {
    for (const curve of curves) {
      const found = colour(curve.colour);
      if (curve.kind === "area") {
        series.get(curve.id)?.applyOptions({
          lineColor: found,
          topColor: faded(found, 0.2),
          bottomColor: faded(found, 0.01),
        });
      } else if (curve.kind === "below") {
        series.get(curve.id)?.applyOptions({
          topLineColor: found,
          topFillColor1: faded(found, 0.05),
          topFillColor2: faded(found, 0.05),
          bottomLineColor: found,
          bottomFillColor1: faded(found, 0.08),
          bottomFillColor2: faded(found, 0.3),
        });
      } else {
        series.get(curve.id)?.applyOptions({ color: found });
      }
    }
  }
}

function mark(made: Drawn, trades: readonly Traded[]): void {
  const seen = seenBy(made);
  if (!made.markers || !seen) return;
  const [up, down] = [colour("up"), colour("down")];
  made.markers.setMarkers(
    bucketed(trades, { ...seen, width: made.chart.timeScale().width() }).map(
      ({ time, side, id, ...some }) => ({
        time: time as UTCTimestamp,
        id,
        position: side === "buy" ? "belowBar" : "aboveBar",
        shape: side === "buy" ? "arrowUp" : "arrowDown",
        color: side === "buy" ? up : down,
        size: 0.8,
        text: counted(some),
      }),
    ),
  );
}

function seenBy({ chart }: Drawn): View | null {
  const range = chart.timeScale().getVisibleRange();
  return range ? { from: Number(range.from), to: Number(range.to) } : null;
}

/** Whether nothing is outside of what is shown. */
function isWhole({ chart, series }: Drawn): boolean {
  const range = chart.timeScale().getVisibleLogicalRange();
  const most = Math.max(0, ...[...series.values()].map((one) => one.data().length));
  return range === null || (range.from <= 0.5 && range.to >= most - 1.5);
}

function show({ chart }: Drawn, { from, to }: View): void {
  if (to > from)
    chart.timeScale().setVisibleRange({ from: from as UTCTimestamp, to: to as UTCTimestamp });
}

function legendsOf(
  { chart, series }: Drawn,
  panes: readonly Pane[],
  time: number | null,
): Legend[] {
  let top = 0;
  return panes.map((pane, index) => {
    const at = top;
    top += (chart.panes()[index]?.getHeight() ?? 0) + 1;
    const rows = pane.curves.map((curve) => {
      const data = series.get(curve.id)?.data() ?? [];
      const found = time === null ? data.at(-1) : data[placeIn(data, time)];
      const value = found && "value" in found ? Number(found.value) : null;
      return {
        id: curve.id,
        label: curve.label,
        colour: `var(--${curve.colour})`,
        text: value === null ? "" : pane.written(value),
      };
    });
    return { top: at, rows };
  });
}

/** The last item that is not after a time. */
function placeIn(data: readonly { time: Time }[], time: number): number {
  let [low, high] = [0, data.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Number(data[middle]?.time) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function sinceStart(seconds: number): string {
  return seconds >= 86_400 || seconds === 0
    ? `day ${Math.round(seconds / 86_400)}`
    : `${Math.round(seconds / 60)} min`;
}

function faded(rgb: string, opacity: number): string {
  return rgb.replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`);
}
