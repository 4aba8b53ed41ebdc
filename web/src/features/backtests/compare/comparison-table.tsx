/** A table with one column per compared backtest. It scrolls sideways on its own. */
import { type Column, Swatch } from "./column";

export function ComparisonTable({
  label,
  columns,
  children,
}: {
  label: string;
  columns: Column[];
  children: React.ReactNode;
}) {
  return (
    <>
      {columns.length > 2 && (
        <p className="px-4 pt-2 text-xs text-soft sm:hidden">
          Swipe sideways to see all {columns.length} backtests.
        </p>
      )}
      <div
        tabIndex={0}
        role="region"
        aria-label={label}
        className="relative overflow-x-auto focus-visible:-outline-offset-2"
      >
        <table className="w-full text-sm">
          <thead>
            <tr className="text-xs">
              <th
                scope="col"
                className="sticky left-0 w-48 min-w-32 bg-surface px-4 py-2 text-left font-medium text-soft"
              >
                {label === "Metrics" ? "Metric" : "Argument"}
              </th>
              {columns.map(({ id, name, colour }) => (
                <th key={id} scope="col" className="min-w-28 px-3 py-2 text-right font-medium">
                  <span className="inline-flex max-w-40 items-center gap-1.5">
                    <Swatch colour={colour} />
                    <span className="truncate" title={name}>
                      {name}
                    </span>
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
    </>
  );
}
