/** Downloads the table that one looks at as CSV: its rows in their order, in full digits, in the chosen zone. */
import { useState } from "react";
import { type Cell, csvOf } from "~/format/csv";
import { Icon } from "../icons";
import { notify } from "../toasts";

/** A column: its name, and its value in a row. */
export type FileColumn<Row> = readonly [name: string, value: (row: Row) => Cell];

export function TableFile<Row>({
  name,
  columns,
  rows,
}: {
  /** Of the table, for people and for the file. */
  name: string;
  columns: readonly FileColumn<Row>[];
  /** Those that are shown; a function fetches those that are not loaded yet. */
  rows: readonly Row[] | (() => Promise<readonly Row[]>);
}) {
  const [busy, setBusy] = useState(false);
  const isEmpty = typeof rows !== "function" && rows.length === 0;
  async function download() {
    setBusy(true);
    try {
      const found = typeof rows === "function" ? await rows() : rows;
      const heads = columns.map(([head]) => head);
      save(
        `${name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-")}.csv`,
        csvOf(
          heads,
          found.map((row) => columns.map(([, value]) => value(row))),
        ),
      );
    } catch (error) {
      notify({ tone: "bad", text: `The table could not be downloaded: ${String(error)}` });
    } finally {
      setBusy(false);
    }
  }
  return (
    <button
      type="button"
      // Without rows it only keeps its place, so that they move nothing when they come.
      className={`link inline-flex min-h-8 items-center gap-1.5 text-sm disabled:opacity-50 ${isEmpty ? "invisible" : ""}`}
      aria-label={`Download as CSV: ${name}`}
      title="Download this table as CSV"
      disabled={busy}
      onClick={() => void download()}
    >
      <Icon name="download" />
      CSV
    </button>
  );
}

function save(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
