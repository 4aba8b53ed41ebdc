/** The curves of a chart as a table: at most some hundred rows of what it shows. */
import { type Cell, dated } from "~/format/csv";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { Time } from "~/ui/time";
import { type Axis, axisText } from "../axis";
import { drawn, type Pane, sampled } from "../panes";

const MOST_ROWS = 250;

export function PaneTable({
  label,
  panes,
  axis,
  height,
}: {
  label: string;
  panes: readonly Pane[];
  axis: Axis;
  height: number;
}) {
  const curves = panes.flatMap((pane) =>
    pane.curves.map((curve) => ({ ...curve, format: pane.exact ?? pane.format })),
  );
  const longest = curves.reduce(
    (one, other) => (other.points.length > one.length ? other.points : one),
    curves[0]?.points ?? [],
  );
  const rows = sampled(drawn(longest), MOST_ROWS).toReversed();
  const known = curves.map(({ points }) => drawn(points));
  const file: FileColumn<number>[] = [
    axis === "time" ? ["date", dated] : ["seconds", (time): Cell => time],
    ...curves.map(
      (curve, place): FileColumn<number> => [
        curve.label,
        (time) => valueAt(known[place] ?? [], time),
      ],
    ),
  ];
  return (
    <>
      <p className="flex justify-end">
        <TableFile name={label} columns={file} rows={drawn(longest).map(({ time }) => time)} />
      </p>
      <div
        tabIndex={0}
        role="region"
        aria-label={`${label} as a table`}
        className="relative overflow-auto"
        style={{ height }}
      >
        <table className="w-full text-sm">
          <thead className="sticky top-0 bg-surface text-xs text-soft">
            <tr>
              <th scope="col" className="py-1 pr-3 text-left font-medium">
                {axis === "time" ? "Time" : "Since start"}
              </th>
              {curves.map((curve) => (
                <th key={curve.id} scope="col" className="py-1 pl-3 text-right font-medium">
                  {curve.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ time }) => (
              <tr key={time} className="border-t border-line">
                <td className="num py-1 pr-3 whitespace-nowrap">
                  {axis === "time" ? <Time at={time} as="stamp" /> : axisText(time, axis)}
                </td>
                {curves.map((curve, place) => {
                  const value = valueAt(known[place] ?? [], time);
                  return (
                    <td key={curve.id} className="num py-1 pl-3 text-right whitespace-nowrap">
                      {value === null ? "–" : curve.format(value)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** The last value at or before a time; null outside the curve. */
function valueAt(
  points: readonly { time: number; value: number | null }[],
  time: number,
): number | null {
  const last = points.at(-1);
  if (!last || time > last.time) return null;
  const found = points.findLast((point) => point.time <= time);
  return found?.value ?? null;
}
