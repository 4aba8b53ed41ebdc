/** A screener's result: one row per symbol, one column per key. */
import { useQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";
import type { ScreenerRows } from "~/api/types";
import type { Cell } from "~/format/csv";
import { quantity } from "~/format/numbers";
import { Empty, Failed, Skeleton } from "~/ui/panel";
import { type From, StackedCell, StackedTable } from "~/ui/tables/stacked-table";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { Time } from "~/ui/time";
import { placed } from "./column-widths";

/** A symbol above its values on a phone, with their names; a row where there is room for all of them. */
const ROWS: Record<From, string> = {
  "36rem":
    "grid grid-cols-2 items-baseline gap-x-4 gap-y-1 px-4 py-1.5 @[36rem]:grid-cols-(--columns) *:[[role=rowheader]]:col-span-full @[36rem]:*:[[role=rowheader]]:col-span-1",
  "48rem":
    "grid grid-cols-2 items-baseline gap-x-4 gap-y-1 px-4 py-1.5 @[48rem]:grid-cols-(--columns) *:[[role=rowheader]]:col-span-full @[48rem]:*:[[role=rowheader]]:col-span-1",
  "60rem":
    "grid grid-cols-2 items-baseline gap-x-4 gap-y-1 px-4 py-1.5 @[60rem]:grid-cols-(--columns) *:[[role=rowheader]]:col-span-full @[60rem]:*:[[role=rowheader]]:col-span-1",
  "84rem":
    "grid grid-cols-2 items-baseline gap-x-4 gap-y-1 px-4 py-1.5 @[84rem]:grid-cols-(--columns) *:[[role=rowheader]]:col-span-full @[84rem]:*:[[role=rowheader]]:col-span-1",
};

export function ScreenerTable({ model }: { model: string }) {
  const { data, error, refetch } = useQuery(ask.screener(model));
  if (error) return <Failed error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton rows={5} />;
  if (!data.result)
    return <Empty title="No result yet">Results appear here after the screener has run.</Empty>;
  return (
    <>
      <p className="px-4 pt-3 text-sm text-soft">
        Found <Time at={data.time} />
      </p>
      <ResultTable result={data.result} label="Latest screener result" />
    </>
  );
}

export function ResultTable({ result, label }: { result: ScreenerRows; label: string }) {
  const symbols = Object.keys(result);
  const columns = [...new Set(symbols.flatMap((symbol) => Object.keys(result[symbol] ?? {})))];
  const texts = columns.map((column) => symbols.map((symbol) => cell(result[symbol]?.[column])));
  const { from, widths } = placed([symbols, ...texts], ["Symbol", ...columns]);
  const file: FileColumn<string>[] = [
    ["symbol", (symbol) => symbol],
    ...columns.map(
      (column): FileColumn<string> => [column, (symbol) => plain(result[symbol]?.[column])],
    ),
  ];
  return (
    <>
      <p className="flex justify-end px-4">
        <TableFile name={label} columns={file} rows={symbols} />
      </p>
      <StackedTable
        label={label}
        heads={["Symbol", ...columns]}
        row={ROWS[from]}
        columns={widths.map((width) => `minmax(0, ${width}fr)`).join(" ")}
        from={from}
      >
        {symbols.map((symbol) => (
          <div role="row" key={symbol} className={`${ROWS[from]} hover:bg-hover`}>
            <span
              role="rowheader"
              dir="auto"
              className="min-w-0 text-left font-medium [overflow-wrap:anywhere]"
            >
              {symbol}
            </span>
            {columns.map((column) => (
              <StackedCell key={column} name={column} from={from}>
                <bdi>{cell(result[symbol]?.[column])}</bdi>
              </StackedCell>
            ))}
          </div>
        ))}
      </StackedTable>
    </>
  );
}

function plain(value: unknown): Cell {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : (value as Cell);
}

function cell(value: unknown): string {
  if (typeof value === "number") return quantity(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value == null ? "–" : String(value);
}
