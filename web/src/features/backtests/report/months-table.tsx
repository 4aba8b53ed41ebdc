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
      aside={<TableFile name="Returns by month" columns={FILE} rows={years} />}
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
          {/* Twelve months are a row; where there is no room, rows of four or six with their names. */}
          <div className="@container relative">
            <table className="w-full table-fixed text-right text-sm @max-[46rem]:block">
              <caption className="sr-only">Returns by month and year</caption>
              <thead className="text-xs text-soft @max-[46rem]:sr-only">
                <tr>
                  <th scope="col" className="w-14 py-2 pl-4 text-left font-medium">
                    Year
                  </th>
                  {MONTHS.map((name) => (
                    <th key={name} scope="col" className="px-1.5 py-2 font-medium">
                      {name}
                    </th>
                  ))}
                  <th scope="col" className="w-24 py-2 pr-4 font-medium">
                    Year
                  </th>
                </tr>
              </thead>
              <tbody className="@max-[46rem]:block">
                {years.map(({ year, value, months }) => (
                  <tr
                    key={year}
                    className="@max-[46rem]:grid @max-[46rem]:grid-cols-4 @max-[46rem]:px-4 @max-[46rem]:pb-3 @min-[30rem]:grid-cols-6!"
                  >
                    <th
                      scope="row"
                      className="num py-1.5 text-left font-medium @max-[46rem]:col-span-3 @min-[30rem]:col-span-5! @[46rem]:pl-4"
                    >
                      {year}
                    </th>
                    {MONTHS.map((name, place) => {
                      const month = months[place] ?? null;
                      return (
                        <td key={name} className="p-px @max-[46rem]:order-1">
                          <span
                            className={`num block rounded-sm px-1.5 py-1.5 whitespace-nowrap ${month === null ? "text-soft" : ""}`}
                            style={{ backgroundColor: ground(month, full) }}
                          >
                            <span
                              aria-hidden="true"
                              className="block text-left text-xs @[46rem]:hidden"
                            >
                              {name}
                            </span>
                            {month === null ? <span className="sr-only">none</span> : short(month)}
                          </span>
                        </td>
                      );
                    })}
                    <td
                      className={`num py-1.5 font-medium @[46rem]:pr-4 whitespace-nowrap ${(value ?? 0) > 0 ? "text-up" : (value ?? 0) < 0 ? "text-down" : ""}`}
                    >
                      {value === null ? (
                        <span className="sr-only">none</span>
                      ) : (
                        signedPercent(value)
                      )}
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
