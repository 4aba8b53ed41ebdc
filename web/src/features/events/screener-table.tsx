/** A screener's result: one row per symbol, one column per key. */
import { useQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";
import type { ScreenerRows } from "~/api/types";
import type { Cell } from "~/format/csv";
import { quantity } from "~/format/numbers";
import { Empty, Failed, Skeleton } from "~/ui/panel";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { Time } from "~/ui/time";

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
      <div tabIndex={0} role="region" aria-label={label} className="relative overflow-x-auto">
        <table className="w-full">
          <thead className="text-left text-xs text-soft">
            <tr>
              <th scope="col" className="px-4 py-2 font-medium">
                Symbol
              </th>
              {columns.map((column) => (
                <th key={column} scope="col" className="px-4 py-2 text-right font-medium">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {symbols.map((symbol) => (
              <tr key={symbol} className="border-t border-line hover:bg-hover">
                <th
                  scope="row"
                  dir="auto"
                  className="px-4 py-1.5 text-left font-medium whitespace-nowrap"
                >
                  {symbol}
                </th>
                {columns.map((column) => (
                  <td key={column} className="num px-4 py-1.5 text-right">
                    {cell(result[symbol]?.[column])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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
