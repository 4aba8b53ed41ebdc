/** Profit and loss over time on a canvas, with orders, versions and downtime. Loaded when needed. */
import {
  BaselineSeries,
  createChart,
  createSeriesMarkers,
  type IChartApi,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  LineStyle,
  type Time,
  type UTCTimestamp,
} from "lightweight-charts";
import { useEffect, useRef, useState } from "react";
import type { Mark } from "~/api/types";
import { compact, gain } from "~/format/numbers";
import { stamp } from "~/format/times";
import { colour, watch } from "~/ui/appearance";
import { axisLabel } from "./axis";
import { bucketed, counted, type Traded } from "./markers";
import { type Drawn, placeOf } from "./series";

export interface PnlChartProps {
  points: readonly Drawn[];
  orders: readonly Traded[];
  marks: readonly Mark[];
  currency: string | null;
  /** Shown at first and after a choice of range; null shows all. */
  range: { from: number; to: number } | null;
  onView: (view: { from: number; to: number }) => void;
}

interface Parts {
  chart: IChartApi;
  series: ISeriesApi<"Baseline">;
  markers: ISeriesMarkersPluginApi<Time>;
}

interface Overlay {
  key: string;
  left: number;
  width: number;
  label: string;
  kind: Mark["kind"];
}

export function PnlChart({ points, orders, marks, currency, range, onView }: PnlChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const parts = useRef<Parts | null>(null);
  const latest = useRef({ points, orders, marks, onView });
  latest.current = { points, orders, marks, onView };
  const [overlays, setOverlays] = useState<Overlay[]>([]);
  const shownRange = useRef<typeof range | undefined>(undefined);
  const wasEmpty = useRef(true);

  useEffect(() => {
    if (!place.current) return;
    const made = make(place.current);
    parts.current = made;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const redraw = () => {
      const view = viewOf(made, latest.current.points);
      if (!view) return;
      draw(made, latest.current.orders, view);
      setOverlays(overlaysOf(made, latest.current.points, latest.current.marks));
      if (timer) clearTimeout(timer);
      timer = setTimeout(() => latest.current.onView(view), 250);
    };
    made.chart.timeScale().subscribeVisibleLogicalRangeChange(redraw);
    const resized = new ResizeObserver(([entry]) => {
      if (!entry) return;
      const { width, height } = entry.contentRect;
      // It does not fit itself again: what was visible stays visible.
      const before = made.chart.timeScale().getVisibleLogicalRange();
      made.chart.resize(width, height);
      if (before) made.chart.timeScale().setVisibleLogicalRange(before);
      redraw();
    });
    resized.observe(place.current);
    const recolour = () => {
      paint(made);
      redraw();
    };
    const unwatch = watch(recolour);
    return () => {
      if (timer) clearTimeout(timer);
      unwatch();
      resized.disconnect();
      made.chart.remove();
      parts.current = null;
      wasEmpty.current = true;
      shownRange.current = undefined;
    };
  }, []);

  useEffect(() => {
    const made = parts.current;
    if (!made) return;
    made.series.applyOptions({
      priceFormat: {
        type: "custom",
        formatter: (value: number) => gain(value, null),
        minMove: 1e-8,
      },
    });
    made.chart.applyOptions({
      localization: {
        priceFormatter: (value: number) =>
          Math.abs(value) >= 1e5 ? compact(value) : gain(value, null),
      },
    });
    const scale = made.chart.timeScale();
    const before = wasEmpty.current ? null : viewOf(made, lastDrawn.get(made) ?? []);
    const old = lastDrawn.get(made) ?? [];
    const atEnd = before !== null && before.to >= (old.at(-1)?.time ?? 0);
    made.series.setData(points.map(({ time, value }) => ({ time: time as UTCTimestamp, value })));
    lastDrawn.set(made, points);
    if (points.length === 0) return;
    const wanted = shownRange.current !== range || wasEmpty.current ? range : undefined;
    if (wanted === null || (wanted === undefined && before === null)) scale.fitContent();
    else if (wanted) show(made, points, wanted.from, wanted.to);
    else if (before && (range !== null || before.from > (old[0]?.time ?? 0)))
      show(made, points, before.from, atEnd ? (points.at(-1)?.time ?? before.to) : before.to);
    else scale.fitContent();
    shownRange.current = range;
    wasEmpty.current = false;
  }, [points, range]);

  useEffect(() => {
    const made = parts.current;
    const view = made && viewOf(made, points);
    if (!made || !view) return;
    draw(made, orders, view);
    setOverlays(overlaysOf(made, points, marks));
  }, [orders, marks, points]);

  return (
    <div className="relative h-full min-h-0 overflow-hidden" data-currency={currency ?? ""}>
      <div ref={place} className="absolute inset-0" />
      {overlays.map((one) => (
        <div
          key={one.key}
          className={`pointer-events-none absolute top-0 bottom-6 z-10 overflow-visible ${one.kind === "version" ? "border-l border-dashed border-accent" : "bg-[repeating-linear-gradient(135deg,transparent_0_4px,var(--line)_4px_6px)] opacity-70"}`}
          style={{ left: one.left, width: one.kind === "version" ? 1 : one.width }}
        >
          {one.kind === "version" && (
            <span className="absolute top-0 left-0 rounded-br bg-accent-ground px-1 text-xs text-ink">
              {one.label}
            </span>
          )}
        </div>
      ))}
    </div>
  );
}

/** What each chart was last given: its axis counts in points, so a view needs them. */
const lastDrawn = new WeakMap<Parts, readonly Drawn[]>();

function make(place: HTMLElement): Parts {
  const chart = createChart(place, {
    width: place.clientWidth,
    height: place.clientHeight,
    layout: {
      // Its logo writes a style element, which our policy refuses; the page names it with a link.
      attributionLogo: false,
      background: { color: "transparent" },
      fontFamily: getComputedStyle(document.body).fontFamily,
      fontSize: 11,
    },
    rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.14, bottom: 0.1 } },
    timeScale: {
      borderVisible: false,
      timeVisible: true,
      secondsVisible: true,
      minBarSpacing: 0.001,
      enableConflation: true,
      rightOffset: 2,
      fixLeftEdge: true,
      tickMarkFormatter: (time: Time, kind: number) => axisLabel(Number(time), kind),
    },
    localization: { timeFormatter: (time: Time) => stamp(Number(time)) },
    crosshair: { horzLine: { labelVisible: true }, vertLine: { labelVisible: true } },
    handleScale: { axisPressedMouseMove: { price: false } },
  });
  const series = chart.addSeries(BaselineSeries, {
    baseValue: { type: "price", price: 0 },
    lineWidth: 2,
    priceLineVisible: false,
    lastValueVisible: true,
  });
  series.createPriceLine({
    price: 0,
    lineWidth: 1,
    lineStyle: LineStyle.Dotted,
    axisLabelVisible: false,
    color: colour("field-line"),
  });
  const made = { chart, series, markers: createSeriesMarkers<Time>(series, []) };
  paint(made);
  return made;
}

function paint({ chart, series }: Parts): void {
  const [up, down, line] = [colour("up"), colour("down"), colour("line")];
  chart.applyOptions({
    layout: { textColor: colour("soft") },
    grid: { vertLines: { visible: false }, horzLines: { color: line } },
    crosshair: {
      horzLine: { color: colour("field-line"), labelBackgroundColor: colour("accent") },
      vertLine: { color: colour("field-line"), labelBackgroundColor: colour("accent") },
    },
  });
  series.applyOptions({
    topLineColor: up,
    topFillColor1: faded(up, 0.22),
    topFillColor2: faded(up, 0.02),
    bottomLineColor: down,
    bottomFillColor1: faded(down, 0.02),
    bottomFillColor2: faded(down, 0.22),
  });
}

function draw(
  { markers }: Parts,
  orders: readonly Traded[],
  view: { from: number; to: number; width: number },
): void {
  const [up, down] = [colour("up"), colour("down")];
  markers.setMarkers(
    bucketed(orders, view).map(({ time, side, id, ...some }) => ({
      time: time as UTCTimestamp,
      id,
      position: side === "buy" ? "belowBar" : "aboveBar",
      shape: side === "buy" ? "arrowUp" : "arrowDown",
      color: side === "buy" ? up : down,
      size: 0.8,
      text: counted(some),
    })),
  );
}

function viewOf(
  { chart }: Parts,
  points: readonly Drawn[],
): { from: number; to: number; width: number } | null {
  const logical = chart.timeScale().getVisibleLogicalRange();
  const first = points[0];
  const last = points.at(-1);
  if (!logical || !first || !last) return null;
  const at = (place: number) =>
    points[Math.max(0, Math.min(points.length - 1, Math.round(place)))]?.time ?? 0;
  return { from: at(logical.from), to: at(logical.to), width: chart.timeScale().width() };
}

function show({ chart }: Parts, points: readonly Drawn[], from: number, to: number): void {
  const [left, right] = [placeOf(points, from), placeOf(points, to)];
  chart.timeScale().setVisibleLogicalRange({ from: left, to: Math.max(right, left + 1) + 0.5 });
}

function overlaysOf({ chart }: Parts, points: readonly Drawn[], marks: readonly Mark[]): Overlay[] {
  const scale = chart.timeScale();
  const width = scale.width();
  const x = (time: number) => scale.logicalToCoordinate(placeOf(points, time) as never) ?? -1;
  const found: Overlay[] = [];
  for (const mark of marks) {
    const left = x(mark.time);
    const right = mark.kind === "downtime" ? (mark.until === null ? width : x(mark.until)) : left;
    if (right < 0 || left > width || (mark.kind === "downtime" && right - left < 1)) continue;
    found.push({
      key: `${mark.kind} ${mark.time}`,
      left: Math.max(0, left),
      width: Math.min(width, right) - Math.max(0, left),
      label: mark.version ? `v${mark.version}` : "",
      kind: mark.kind,
    });
  }
  return found;
}

function faded(rgb: string, opacity: number): string {
  return rgb.replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`);
}
