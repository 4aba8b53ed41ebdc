/** The arguments of the compared backtests, those that differ first. */
import type { Arguments } from "~/features/backtests/types";
import { useView } from "~/ui/address";
import { Panel } from "~/ui/panel";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import type { Column } from "./column";
import { ComparisonTable } from "./comparison-table";
import { type Difference, differences } from "./differences";

export function ArgumentTable({
  columns,
  args,
}: {
  columns: Column[];
  args: (Arguments | null)[];
}) {
  const [{ arguments: asked }, change] = useView<"arguments">();
  const all = asked === "all";
  const rows = differences(args);
  const shown = rows.filter(({ differs }) => all || differs);
  const known = args.filter((one) => one !== null).length;
  if (known === 0) return null;
  return (
    <Panel
      title="Arguments"
      flush
      aside={
        <span className="flex flex-wrap items-center gap-x-4">
          {shown.length > 0 && (
            <TableFile
              name="Compared arguments"
              columns={[
                ["argument", (one: Difference) => one.name],
                ...columns.map(
                  ({ name }, place): FileColumn<Difference> => [name, (one) => one.values[place]],
                ),
              ]}
              rows={shown}
            />
          )}
          <label className="flex min-h-8 items-center gap-2 text-sm text-soft">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={all}
              onChange={({ target }) => change({ arguments: target.checked ? "all" : "" })}
            />
            Show identical arguments
          </label>
        </span>
      }
    >
      {shown.length === 0 ? (
        <p className="p-4 text-soft">
          {known < args.length
            ? "Only backtests that ran here have arguments, and these are identical."
            : "All of them used the same arguments."}
        </p>
      ) : (
        <ComparisonTable
          label="Arguments"
          head="Argument"
          columns={columns}
          groups={[
            {
              title: "",
              rows: shown.map(({ name, values, differs }) => ({
                key: name,
                name: <span className="font-mono text-xs">{name}</span>,
                cells: values.map((value, place) => (
                  <span
                    // biome-ignore lint/suspicious/noArrayIndexKey: a value belongs to its place
                    key={place}
                    className={`font-mono text-xs ${differs ? "" : "text-soft"}`}
                  >
                    {value}
                  </span>
                )),
              })),
            },
          ]}
        />
      )}
    </Panel>
  );
}
