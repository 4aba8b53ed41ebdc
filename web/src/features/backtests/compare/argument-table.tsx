/** The arguments of the compared backtests, those that differ first. */
import { useState } from "react";
import type { Arguments } from "~/features/backtests/types";
import { Panel } from "~/ui/panel";
import type { Column } from "./column";
import { ComparisonTable } from "./comparison-table";
import { differences } from "./differences";

export function ArgumentTable({
  columns,
  args,
}: {
  columns: Column[];
  args: (Arguments | null)[];
}) {
  const [all, setAll] = useState(false);
  const rows = differences(args);
  const shown = rows.filter(({ differs }) => all || differs);
  const known = args.filter((one) => one !== null).length;
  if (known === 0) return null;
  return (
    <Panel
      title="Arguments"
      flush
      aside={
        <label className="flex min-h-8 items-center gap-2 text-sm text-soft">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={all}
            onChange={(event) => setAll(event.target.checked)}
          />
          Show identical arguments
        </label>
      }
    >
      {shown.length === 0 ? (
        <p className="p-4 text-soft">
          {known < args.length
            ? "Only backtests that ran here have arguments, and these are identical."
            : "All of them used the same arguments."}
        </p>
      ) : (
        <ComparisonTable label="Arguments" columns={columns}>
          {shown.map(({ name, values, differs }) => (
            <tr key={name} className="border-t border-line">
              <th
                scope="row"
                className="sticky left-0 bg-surface px-4 py-1.5 text-left font-mono text-xs font-normal"
              >
                {name}
              </th>
              {values.map((value, place) => (
                <td
                  key={columns[place]?.id}
                  className={`px-3 py-1.5 text-right font-mono text-xs ${differs ? "" : "text-soft"}`}
                >
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </ComparisonTable>
      )}
    </Panel>
  );
}
