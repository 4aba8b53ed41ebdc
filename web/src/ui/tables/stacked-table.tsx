/** Tables whose cells stand below each other, each with its name, where there is no room for a row. */

/** From which width of the table on rows are rows; the window may be much wider. */
export type From = "36rem" | "48rem" | "60rem" | "84rem";

const HEADS = {
  "36rem": "hidden @[36rem]:block",
  "48rem": "hidden @[48rem]:block",
  "60rem": "hidden @[60rem]:block",
  "84rem": "hidden @[84rem]:block",
} as const;
const CELLS = {
  "36rem": "@[36rem]:text-right",
  "48rem": "@[48rem]:text-right",
  "60rem": "@[60rem]:text-right",
  "84rem": "@[84rem]:text-right",
} as const;
const NAMES = {
  "36rem": "@[36rem]:hidden",
  "48rem": "@[48rem]:hidden",
  "60rem": "@[60rem]:hidden",
  "84rem": "@[84rem]:hidden",
} as const;
/** A long amount breaks before its currency, or where it must, instead of leaving its cell. */
export const FITS = "min-w-0 [overflow-wrap:anywhere] [&_.num]:whitespace-normal";

export function StackedTable({
  label,
  heads,
  row,
  columns,
  from,
  texts = [],
  children,
}: {
  label: string;
  heads: readonly string[];
  /** The grid of a row; its rows use the same. */
  row: string;
  /** The columns of that grid where their number is not known before; for `--columns`. */
  columns?: string;
  from: From;
  /** Columns that hold text, which begins at the left. */
  texts?: readonly string[];
  children: React.ReactNode;
}) {
  return (
    <div
      role="table"
      aria-label={label}
      className="@container"
      style={columns ? ({ "--columns": columns } as React.CSSProperties) : undefined}
    >
      <div role="rowgroup" className={`border-b border-line ${HEADS[from]}`}>
        <div role="row" className={`${row} text-xs font-medium text-soft`}>
          {heads.map((name, place) => (
            <span
              role="columnheader"
              key={name}
              className={`min-w-0 [overflow-wrap:anywhere] ${place && !texts.includes(name) ? "text-right" : ""}`}
            >
              {name}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="divide-y divide-line">
        {children}
      </div>
    </div>
  );
}

export function StackedCell({
  name,
  from,
  more = "",
  isText = false,
  className = "",
  children,
}: {
  name: string;
  from: From;
  /** What stands below it, smaller. */
  more?: React.ReactNode;
  /** Text begins at the left, also in a row. */
  isText?: boolean;
  className?: string;
  children: React.ReactNode;
}) {
  return (
    <span role="cell" className={`num ${FITS} ${isText ? "" : CELLS[from]} ${className}`}>
      <span aria-hidden="true" className={`block text-xs text-soft ${NAMES[from]}`}>
        {name}
      </span>
      {children}
      {more && <span className="block text-xs whitespace-nowrap text-soft">{more}</span>}
    </span>
  );
}
