/** How often round trips had which result: one bar for each range of results. */
import { Bar } from "~/charts/number-bar";
import { barsOf } from "~/charts/number-bars";
import { compact, integer } from "~/format/numbers";
import { Panel } from "~/ui/panel";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import type { Bin } from "./queries";

const FILE: readonly FileColumn<Bin>[] = [
  ["from", (one) => one.low],
  ["below", (one) => one.high],
  ["round_trips", (one) => one.round_trips],
];

export function Distribution({
  bins,
  currency,
}: {
  bins: readonly Bin[];
  currency: string | null;
}) {
  if (bins.length === 0) return null;
  const step = Math.min(...bins.map(({ low, high }) => high - low));
  const bars = barsOf(bins.map((one) => one.round_trips));
  return (
    <Panel
      title="Distribution of results"
      note={currency ? `in ${currency}` : ""}
      flush
      aside={<TableFile name="Distribution of results" columns={FILE} rows={bins} />}
    >
      <table className="num w-full text-sm">
        <caption className="sr-only">How many round trips had which result</caption>
        <thead className="sr-only">
          <tr>
            <th scope="col">Result</th>
            <th scope="col">Round trips</th>
          </tr>
        </thead>
        <tbody>
          {bins.map((one, place) => (
            <tr key={one.low}>
              <th
                scope="row"
                className="w-px py-0.5 pr-3 pl-4 text-right font-normal whitespace-nowrap text-soft"
              >
                {compact(one.low, step)} to {compact(one.high, step)}
              </th>
              <td className="py-0.5 pr-4">
                <span className="flex items-center gap-2">
                  <Bar
                    place={bars[place] ?? null}
                    tone={one.high <= 0 ? "down" : "up"}
                    className="flex-1"
                  />
                  <span className="w-12 text-right">{integer(one.round_trips)}</span>
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="mt-1 border-t border-line px-4 py-2 text-sm text-soft">
        The first and the last range include the rarest hundredth of results at each end.
      </p>
    </Panel>
  );
}
