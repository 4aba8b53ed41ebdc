/** A tiny curve for one row of a list. It is decorative: the number next to it says the same. */
import type { Point } from "~/api/types";

export function sparkPath(all: readonly Point[], width: number, height: number): string {
  const points = all.flatMap(({ time, value }) => (value === null ? [] : [{ time, value }]));
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last || points.length < 2 || last.time <= first.time) return "";
  let [low, high] = [0, 0];
  for (const { value } of points) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const range = high - low || 1;
  const x = (time: number) => ((time - first.time) / (last.time - first.time)) * width;
  const y = (value: number) => 1 + (1 - (value - low) / range) * (height - 2);
  return points
    .map(
      ({ time, value }, place) =>
        `${place ? "L" : "M"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`,
    )
    .join("");
}

export function Sparkline({
  points,
  width = 96,
  height = 24,
}: {
  points: readonly Point[];
  width?: number;
  height?: number;
}) {
  const path = sparkPath(points, width, height);
  const last = points.at(-1)?.value ?? 0;
  if (!path) return <span className="block" style={{ width, height }} />;
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
      className={`block ${last > 0 ? "text-up" : last < 0 ? "text-down" : "text-soft"}`}
    >
      <path d={path} fill="none" stroke="currentColor" strokeWidth="1.4" strokeLinejoin="round" />
    </svg>
  );
}
