/** A table with one column per compared backtest. Where they have no room, each row stacks its values. */
import { type Column, Swatch } from "./column";

export interface ComparedRow {
  key: string;
  name: React.ReactNode;
  hint?: string;
  /** One for each backtest. */
  cells: React.ReactNode[];
}

export interface ComparedRows {
  title: string;
  rows: readonly ComparedRow[];
}

/** From which width on so many columns stand side by side. */
const FEW = {
  row: "md:[grid-template-columns:var(--columns)] md:gap-x-3",
  heads: "hidden md:block",
  cell: "md:block md:text-right",
  name: "md:hidden",
};
const SOME = {
  row: "lg:[grid-template-columns:var(--columns)] lg:gap-x-3",
  heads: "hidden lg:block",
  cell: "lg:block lg:text-right",
  name: "lg:hidden",
};
const MANY = {
  row: "xl:[grid-template-columns:var(--columns)] xl:gap-x-3",
  heads: "hidden xl:block",
  cell: "xl:block xl:text-right",
  name: "xl:hidden",
};

export function ComparisonTable({
  label,
  head,
  columns,
  groups,
}: {
  label: string;
  /** Of the first column. */
  head: string;
  columns: Column[];
  groups: readonly ComparedRows[];
}) {
  const looks = columns.length <= 3 ? FEW : columns.length <= 5 ? SOME : MANY;
  const style = {
    "--columns": `minmax(8rem, 1.4fr) repeat(${columns.length}, minmax(5.5rem, 1fr))`,
  } as React.CSSProperties;
  const row = `grid grid-cols-1 items-baseline gap-y-1 px-4 py-1.5 text-sm ${looks.row}`;
  return (
    <div role="table" aria-label={label} style={style}>
      <div role="rowgroup" className={looks.heads}>
        <div role="row" className={`${row} text-xs font-medium`}>
          <span role="columnheader" className="text-soft">
            {head}
          </span>
          {columns.map((one) => (
            <span role="columnheader" key={one.id} className="min-w-0 text-right">
              <Name column={one} />
            </span>
          ))}
        </div>
      </div>
      {groups.map(({ title, rows }) => (
        <div role="rowgroup" key={title} aria-label={title || undefined}>
          {title && <p className="px-4 pt-4 pb-1 text-xs font-medium text-soft">{title}</p>}
          {rows.map(({ key, name, hint, cells }) => (
            <div role="row" key={key} className={`${row} border-t border-line`}>
              <span role="rowheader" title={hint} className="min-w-0 [overflow-wrap:anywhere]">
                {name}
              </span>
              {columns.map((one, place) => (
                <span
                  role="cell"
                  key={one.id}
                  className={`flex min-w-0 items-baseline justify-between gap-3 ${looks.cell}`}
                >
                  <span className={`min-w-0 text-xs text-soft ${looks.name}`}>
                    <Name column={one} />
                  </span>
                  <span className="max-w-[65%] shrink-0 text-right [overflow-wrap:anywhere]">
                    {cells[place]}
                  </span>
                </span>
              ))}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}

function Name({ column: { name, colour } }: { column: Column }) {
  return (
    <span className="inline-flex max-w-full items-center gap-1.5">
      <Swatch colour={colour} />
      <span className="truncate" title={name}>
        {name}
      </span>
    </span>
  );
}
