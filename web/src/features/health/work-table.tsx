/** Background work: each loop and kind of task, its progress and its failures. */
import type { Schemas } from "~/api/client";
import { integer } from "~/format/numbers";
import { lasting } from "~/format/times";
import { Panel } from "~/ui/panel";
import { StateDot } from "./state-dot";

const NUMBER = "num px-4 py-1.5 text-right whitespace-nowrap";

export function WorkTable({ work }: { work: Schemas["ShownWork"][] }) {
  return (
    <Panel title="Background work" flush>
      <section tabIndex={0} aria-label="Background work" className="overflow-x-auto">
        <table className="w-full">
          <thead>
            <tr className="text-left text-sm text-soft">
              <th className="px-4 py-1.5 font-medium">Work</th>
              <th className="px-4 py-1.5 text-right font-medium max-sm:hidden">Turns</th>
              <th className="px-4 py-1.5 text-right font-medium">Failures</th>
              <th className="px-4 py-1.5 text-right font-medium">Last progress</th>
              <th className="px-4 py-1.5 font-medium">Last failure</th>
            </tr>
          </thead>
          <tbody>
            {work.map((one) => (
              <tr key={one.name} className="border-t border-line">
                <th scope="row" className="px-4 py-1.5 text-left font-medium whitespace-nowrap">
                  <span className="flex items-baseline gap-2.5">
                    <StateDot state={one.state} />
                    {one.name}
                  </span>
                </th>
                <td className={`${NUMBER} max-sm:hidden`}>{integer(one.turns)}</td>
                <td className={NUMBER}>{integer(one.failures)}</td>
                <td className={NUMBER}>{one.silent ? `${lasting(one.silent)} ago` : "–"}</td>
                <td className="min-w-48 px-4 py-1.5 text-soft">{one.last_error || "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Panel>
  );
}
