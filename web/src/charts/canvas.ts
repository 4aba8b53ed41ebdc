/** The only file that calls the chart library: it creates, fills and colours a chart and moves its view. */
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
import { colour } from "~/ui/appearance";
import { axisLabel, axisText } from "./axis";
import { bucketed, counted, type Traded } from "./markers";
import { type Curve, drawn, type Pane, roomAbove, type View } from "./panes";

export interface Canvas {
  chart: IChartApi;
  series: Map<string, ISeriesApi<SeriesType>>;
  markers: ISeriesMarkersPluginApi<Time> | null;
}

const DASHES = [
  LineStyle.Solid,
  LineStyle.Dashed,
  LineStyle.Dotted,
  LineStyle.LargeDashed,
] as const;

export function make(place: HTMLElement, panes: readonly Pane[], axis: "time" | "start"): Canvas {
  const chart = createChart(place, {
    width: place.clientWidth,
    height: place.clientHeight,
    layout: {
      // The logo writes a style element, which our policy refuses; the figure links to the library.
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
        axis === "time" ? axisLabel(Number(time), kind) : axisText(Number(time), axis),
    },
    localization: { timeFormatter: (time: Time) => axisText(Number(time), axis) },
    handleScale: { axisPressedMouseMove: { price: false } },
    // A swipe over the chart scrolls the page; a pinch zooms.
    handleScroll: { mouseWheel: false, vertTouchDrag: false },
  });
  const series = new Map<string, ISeriesApi<SeriesType>>();
  panes.forEach((pane, index) => {
    for (const curve of pane.curves) series.set(curve.id, add(chart, pane, curve, index));
    leaveRoom(chart, index, 0);
    chart.panes()[index]?.setStretchFactor(pane.weight);
  });
  const first = panes[0]?.curves[0] && series.get(panes[0].curves[0].id);
  const canvas = {
    chart,
    series,
    markers: first ? createSeriesMarkers<Time>(first as ISeriesApi<"Line">, []) : null,
  };
  paint(canvas, panes);
  return canvas;
}

/** Curves begin below the legend of their pane, however many lines it has. */
export function leaveRoom(chart: IChartApi, pane: number, legend: number): void {
  const top = roomAbove(legend, chart.panes()[pane]?.getHeight() ?? 0);
  chart.priceScale("right", pane).applyOptions({ scaleMargins: { top, bottom: 0.06 } });
}

function add(chart: IChartApi, pane: Pane, curve: Curve, index: number): ISeriesApi<SeriesType> {
  const common = {
    lineWidth: 2,
    priceLineVisible: false,
    lastValueVisible: pane.curves.length === 1,
    priceFormat: { type: "custom", formatter: pane.format, minMove: 1e-8 },
  } as const;
  const lineStyle = DASHES[(curve.dash ?? 0) % DASHES.length] ?? LineStyle.Solid;
  if (curve.kind === "area")
    return chart.addSeries(AreaSeries, { ...common, lineStyle }, index) as ISeriesApi<SeriesType>;
  if (curve.kind === "gain") {
    const baseValue = { type: "price", price: 0 } as const;
    const series = chart.addSeries(BaselineSeries, { ...common, baseValue }, index);
    series.createPriceLine({
      price: 0,
      lineWidth: 1,
      lineStyle: LineStyle.Dotted,
      axisLabelVisible: false,
      color: colour("field-line"),
    });
    return series as ISeriesApi<SeriesType>;
  }
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

export function fill({ series }: Canvas, panes: readonly Pane[]): void {
  for (const { curves } of panes) {
    for (const { id, points } of curves) {
      const data = drawn(points).map(({ time, value }) =>
        value === null ? { time: time as UTCTimestamp } : { time: time as UTCTimestamp, value },
      );
      series.get(id)?.setData(data);
    }
  }
}

export function paint({ chart, series }: Canvas, panes: readonly Pane[]): void {
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
      } else if (curve.kind === "gain") {
        const [up, down] = [colour("up"), colour("down")];
        series.get(curve.id)?.applyOptions({
          topLineColor: up,
          topFillColor1: faded(up, 0.22),
          topFillColor2: faded(up, 0.02),
          bottomLineColor: down,
          bottomFillColor1: faded(down, 0.02),
          bottomFillColor2: faded(down, 0.22),
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

export function mark(canvas: Canvas, trades: readonly Traded[]): void {
  const seen = seenBy(canvas);
  if (!canvas.markers || !seen) return;
  const [up, down] = [colour("up"), colour("down")];
  canvas.markers.setMarkers(
    bucketed(trades, { ...seen, width: canvas.chart.timeScale().width() }).map(
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

export function seenBy({ chart }: Canvas): View | null {
  const range = chart.timeScale().getVisibleRange();
  return range ? { from: Number(range.from), to: Number(range.to) } : null;
}

/** The last moment of any curve. */
export function endOf({ series }: Canvas): number {
  return Math.max(0, ...[...series.values()].map((one) => Number(one.data().at(-1)?.time ?? 0)));
}

/** Whether the whole of every curve is in view. */
export function isWhole({ chart, series }: Canvas): boolean {
  const range = chart.timeScale().getVisibleLogicalRange();
  const most = Math.max(0, ...[...series.values()].map((one) => one.data().length));
  return range === null || (range.from <= 0.5 && range.to >= most - 1.5);
}

export function show({ chart }: Canvas, { from, to }: View): void {
  if (to > from)
    chart.timeScale().setVisibleRange({ from: from as UTCTimestamp, to: to as UTCTimestamp });
}

function faded(rgb: string, opacity: number): string {
  return rgb.replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`);
}
