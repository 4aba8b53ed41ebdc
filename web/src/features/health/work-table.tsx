/** Background work: each loop and kind of task, its progress and its failures. On a phone the last
 * failure is below the name, because a fifth column would be cut off. */
import type { Schemas } from "~/api/client";
import { integer } from "~/format/numbers";
import { lasting } from "~/format/times";
import { Panel } from "~/ui/panel";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { StateDot } from "./state-dot";

const FILE: readonly FileColumn<Schemas["ShownWork"]>[] = [
  ["work", (one) => one.name],
  ["state", (one) => one.state],
  ["turns", (one) => one.turns],
  ["failures", (one) => one.failures],
  ["seconds_since_progress", (one) => one.silent],
  ["last_failure", (one) => one.last_error],
];
const NUMBER = "num px-4 py-1.5 max-sm:px-2 text-right whitespace-nowrap";

export function WorkTable({ work }: { work: Schemas["ShownWork"][] }) {
  return (
    <Panel
      title="Background work"
      flush
      aside={<TableFile name="Background work" columns={FILE} rows={work} />}
    >
      <section tabIndex={0} aria-label="Background work" className="overflow-x-auto">
        <table className="w-full">
          <thead>
            <tr className="text-left text-sm text-soft">
              <th className="px-4 py-1.5 font-medium">Work</th>
              <th className="px-4 py-1.5 text-right font-medium max-sm:hidden">Turns</th>
              <th className="px-4 py-1.5 text-right font-medium max-sm:px-2">Failures</th>
              <th className="px-4 py-1.5 text-right font-medium max-sm:px-2">Last progress</th>
              <th className="px-4 py-1.5 font-medium max-sm:hidden">Last failure</th>
            </tr>
          </thead>
          <tbody>
            {work.map((one) => (
              <tr key={one.name} className="border-t border-line">
                <th scope="row" className="px-4 py-1.5 text-left font-medium sm:whitespace-nowrap">
                  <span className="flex items-baseline gap-2.5">
                    <StateDot state={one.state} />
                    {one.name}
                  </span>
                  {one.last_error && (
                    <span className="block font-normal text-soft [overflow-wrap:anywhere] sm:hidden">
                      {one.last_error}
                    </span>
                  )}
                </th>
                <td className={`${NUMBER} max-sm:hidden`}>{integer(one.turns)}</td>
                <td className={NUMBER}>{integer(one.failures)}</td>
                <td className={NUMBER}>{one.silent ? `${lasting(one.silent)} ago` : "–"}</td>
                <td className="min-w-48 px-4 py-1.5 text-soft max-sm:hidden">
                  {one.last_error || "–"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Panel>
  );
}
