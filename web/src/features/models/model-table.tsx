/** Models as a table that sorts by any column. */
import {
  createColumnHelper,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useMemo } from "react";
import type { Wish } from "~/features/model/actions";
import { urgency } from "~/features/model/status";
import { StatusBadge } from "~/features/model/status-badge";
import { dated } from "~/format/csv";
import { byName } from "~/format/names";
import { integer, plural } from "~/format/numbers";
import { useView } from "~/ui/address";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { Actions, Curve, LastError, NameLink, Ordered, Profit } from "./cells";
import { useDeferredRows } from "./deferred-rows";
import { byProfit, byUrgency, orderedAt, type Row } from "./fleet";

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel() });
const helper = createColumnHelper<typeof features, Row>();
const RIGHT = new Set(["pnl", "restarts"]);
/** From which width of the table on a column has room; before, it stands below the name. */
const WIDE_ONLY: Record<string, string> = {
  status: "hidden @[30rem]:table-cell",
  curve: "hidden @[42rem]:table-cell",
  version: "hidden @[54rem]:table-cell",
  order: "hidden @[90rem]:table-cell",
  restarts: "hidden @[90rem]:table-cell",
};
const SORTED = ["name", "status", "version", "pnl", "order", "restarts"];
const FILE: readonly FileColumn<Row>[] = [
  ["model", ({ model }) => model.name],
  ["id", ({ model }) => model.id],
  ["status", ({ status }) => status.label],
  ["reason", ({ status }) => status.detail],
  ["version", ({ model, run }) => run?.version ?? model.version?.version],
  ["profit_and_loss", ({ model }) => model.pnl.value],
  ["currency", ({ model }) => model.pnl.currency],
  ["last_order", ({ model }) => dated(orderedAt(model.last_order))],
  ["restarts", ({ run }) => run?.restarts],
];
const ARROWS = { asc: "↑", desc: "↓" } as const;

export function ModelTable({ rows, ask }: { rows: Row[]; ask: (wish: Wish) => void }) {
  const columns = useMemo(() => columnsFor(ask), [ask]);
  const [{ sort = "status" }, change] = useView<"sort">();
  const sorting = useMemo(() => sortingOf(sort), [sort]);
  const table = useTable({
    features,
    columns,
    data: rows,
    getRowId: (row) => row.model.id,
    state: { sorting },
    onSortingChange: (next) => {
      const [first] = typeof next === "function" ? next(sorting) : next;
      if (first) change({ sort: `${first.desc ? "-" : ""}${first.id}` });
    },
    enableSortingRemoval: false,
  });
  const shown = useDeferredRows(table.getRowModel().rows);
  return (
    // Relative: otherwise text for screen readers would widen the page instead of this box.
    <div className="@container relative">
      <table className="w-full">
        <thead className="text-left text-xs text-soft">
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map((header) => {
                const sorted = header.column.getIsSorted();
                const { id } = header.column;
                return (
                  <th
                    key={header.id}
                    scope="col"
                    aria-sort={sorted ? (sorted === "asc" ? "ascending" : "descending") : undefined}
                    className={`px-1.5 py-2 font-medium @[42rem]:px-3 @[42rem]:whitespace-nowrap first:pl-4 last:pr-3 ${RIGHT.has(id) ? "text-right" : ""} ${WIDE_ONLY[id] ?? ""}`}
                  >
                    {header.column.getCanSort() ? (
                      <button
                        type="button"
                        className="rounded-sm hover:text-ink"
                        onClick={header.column.getToggleSortingHandler()}
                      >
                        <table.FlexRender header={header} />
                        <span aria-hidden="true" className="inline-block w-3.5 text-center">
                          {sorted ? ARROWS[sorted] : ""}
                        </span>
                      </button>
                    ) : (
                      <table.FlexRender header={header} />
                    )}
                  </th>
                );
              })}
            </tr>
          ))}
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.id} className="border-t border-line hover:bg-hover">
              {row.getAllCells().map((cell) => (
                <td
                  key={cell.id}
                  className={`h-12 px-1.5 py-1.5 @[42rem]:px-3 first:pl-4 last:pr-3 ${RIGHT.has(cell.column.id) ? "text-right" : ""} ${WIDE_ONLY[cell.column.id] ?? ""} ${cell.column.id === "name" ? "w-full max-w-0" : ""}`}
                >
                  <table.FlexRender cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="flex justify-end border-t border-line px-4 py-0.5">
        <TableFile
          name="Models"
          columns={FILE}
          rows={table.getRowModel().rows.map(({ original }) => original)}
        />
      </p>
    </div>
  );
}

/** `-pnl` is by profit and loss, the largest first. */
function sortingOf(text: string) {
  const id = text.replace(/^-/, "");
  const isKnown = SORTED.includes(id);
  return [{ id: isKnown ? id : "status", desc: isKnown && text.startsWith("-") }];
}

/** What has no column of its own in a narrow window. */
function Stacked({ row: { model, run, status } }: { row: Row }) {
  const version = run?.version ?? model.version?.version;
  return (
    <p className="flex flex-wrap gap-x-3 text-sm text-soft empty:hidden @[90rem]:hidden">
      <span className="flex min-w-0 @[30rem]:hidden">
        <StatusBadge status={status} />
      </span>
      {version !== undefined && <span className="num @[54rem]:hidden">v{version}</span>}
      {model.last_order && (
        <span title="The last order to arrive">
          <Ordered order={model.last_order} />
        </span>
      )}
      {run && run.restarts > 0 && (
        <span className="num text-warn">{plural(run.restarts, "restart")}</span>
      )}
    </p>
  );
}

function columnsFor(ask: (wish: Wish) => void) {
  return helper.columns([
    helper.accessor((row) => row.model.name, {
      id: "name",
      header: "Model",
      sortFn: (one, other) => byName(one.original.model.name, other.original.model.name),
      cell: ({ row }) => (
        <>
          <NameLink row={row.original} />
          <LastError row={row.original} />
          <Stacked row={row.original} />
        </>
      ),
    }),
    helper.accessor((row) => urgency(row.status), {
      id: "status",
      header: "Status",
      sortFn: (one, other) => byUrgency(one.original, other.original),
      cell: ({ row }) => (
        <span className="flex max-w-22 @[42rem]:max-w-28 @[54rem]:max-w-40">
          <StatusBadge status={row.original.status} />
        </span>
      ),
    }),
    helper.accessor((row) => row.run?.version ?? row.model.version?.version ?? 0, {
      id: "version",
      header: "Version",
      cell: ({ getValue, row }) => (
        <span className="num" title={row.original.model.version?.description}>
          {getValue() ? `v${getValue()}` : <span className="text-soft">–</span>}
        </span>
      ),
    }),
    helper.accessor((row) => row.model.pnl.value ?? Number.NEGATIVE_INFINITY, {
      id: "pnl",
      header: "Profit and loss",
      sortDescFirst: true,
      sortFn: (one, other) => byProfit(one.original, other.original),
      cell: ({ row }) => (
        <span className="@max-[42rem]:[&_.num]:whitespace-normal">
          <Profit row={row.original} />
        </span>
      ),
    }),
    helper.display({
      id: "curve",
      header: () => <span className="sr-only">Curve</span>,
      cell: ({ row }) => <Curve model={row.original.model.id} />,
    }),
    helper.accessor((row) => orderedAt(row.model.last_order) ?? 0, {
      id: "order",
      header: "Last order to arrive",
      sortDescFirst: true,
      cell: ({ row }) => <Ordered order={row.original.model.last_order} className="flex-nowrap" />,
    }),
    helper.accessor((row) => row.run?.restarts ?? 0, {
      id: "restarts",
      header: "Restarts",
      sortDescFirst: true,
      cell: ({ getValue }) => (
        <span className={`num ${getValue() ? "text-warn" : "text-soft"}`}>
          {integer(getValue())}
        </span>
      ),
    }),
    helper.display({
      id: "actions",
      header: () => <span className="sr-only">Actions</span>,
      cell: ({ row }) => <Actions row={row.original} ask={ask} />,
    }),
  ]);
}
