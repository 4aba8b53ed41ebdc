/** Returns by month: the colour is a hint, the number is the fact. */
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "~/api/client";
import { signedPercent } from "~/features/backtests/metrics";
import * as ask from "~/features/backtests/queries";
import { MONTHS } from "~/format/times";
import { Failed, Panel, Skeleton } from "~/ui/panel";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { extremes, ground, strongest } from "./months";

type Year = Schemas["Year"];
const FILE: readonly FileColumn<Year>[] = [
  ["year", (one) => one.year],
  ...MONTHS.map((name, place): FileColumn<Year> => [name, (one) => one.months[place]]),
  ["whole_year", (one) => one.value],
];

export function MonthsTable({ model, id }: { model: string; id: string }) {
  const { data, error, refetch } = useQuery(ask.periods(model, id));
  const years = data?.years ?? [];
  const full = strongest(years);
  const { best, worst, won, lost } = extremes(years);
  return (
    <Panel
      title="Returns by month"
      flush
      aside={years.length > 0 && <TableFile name="Returns by month" columns={FILE} rows={years} />}
    >
      {error ? (
        <div className="p-4">
          <Failed error={error} retry={() => void refetch()} />
        </div>
      ) : !data ? (
        <Skeleton rows={3} />
      ) : years.length === 0 ? (
        <p className="p-4 text-soft">{data.reason ?? "There are no returns."}</p>
      ) : (
        <>
          <div
            tabIndex={0}
            role="region"
            aria-label="Returns by month"
            className="relative overflow-x-auto focus-visible:-outline-offset-2"
          >
            <table className="w-full min-w-[46rem] table-fixed text-right text-sm">
              <caption className="sr-only">Returns by month and year</caption>
              <thead className="text-xs text-soft">
                <tr>
                  <th
                    scope="col"
                    className="sticky left-0 w-14 bg-surface py-2 pl-4 text-left font-medium"
                  >
                    Year
                  </th>
                  {MONTHS.map((name) => (
                    <th key={name} scope="col" className="px-1.5 py-2 font-medium">
                      {name}
                    </th>
                  ))}
                  <th scope="col" className="sticky right-0 w-24 bg-surface py-2 pr-4 font-medium">
                    Year
                  </th>
                </tr>
              </thead>
              <tbody>
                {years.map(({ year, value, months }) => (
                  <tr key={year}>
                    <th
                      scope="row"
                      className="num sticky left-0 bg-surface py-1.5 pl-4 text-left font-medium"
                    >
                      {year}
                    </th>
                    {MONTHS.map((name, place) => {
                      const month = months[place] ?? null;
                      return (
                        <td key={name} className="p-px">
                          <span
                            className={`num block rounded-sm px-1.5 py-1.5 whitespace-nowrap ${month === null ? "text-soft" : ""}`}
                            style={{ backgroundColor: ground(month, full) }}
                          >
                            {month === null ? <span className="sr-only">none</span> : short(month)}
                          </span>
                        </td>
                      );
                    })}
                    <td
                      className={`num sticky right-0 bg-surface py-1.5 pr-4 font-medium whitespace-nowrap ${value > 0 ? "text-up" : value < 0 ? "text-down" : ""}`}
                    >
                      {signedPercent(value)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p className="border-t border-line px-4 py-2 text-sm text-soft">
            In percent. {won} {won === 1 ? "month" : "months"} won, {lost} lost
            {best &&
              worst &&
              `; best ${best.name} with ${signedPercent(best.value)}, worst ${worst.name} with ${signedPercent(worst.value)}`}
            .
          </p>
        </>
      )}
    </Panel>
  );
}

/** A percentage without its sign, which the caption gives once. */
function short(share: number): string {
  const text = (Math.abs(share) * 100).toFixed(1);
  if (!/[1-9]/.test(text)) return text;
  return `${share > 0 ? "+" : "\u2212"}${text}`;
}
