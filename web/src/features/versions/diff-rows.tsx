/** Changed lines with a few lines around them: one below the other, or side by side. */
import { useMemo, useState } from "react";
import { integer, plural } from "~/format/numbers";
import { Button } from "~/ui/button";
import { LONGEST, Pieces, Rest } from "./code-view";
import { revealed } from "./colouring";
import { CODE, changes } from "./diff";
import { type Fold, folded, type Line, type Pair, paired } from "./line-diff";
import "./source.css";

/** Rows of a file that are shown at once. */
const MANY = 1_000;
/** Characters of a line whose changed words are marked. */
const MARKED = 400;
const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const NUMBER = "num px-2 text-right align-top text-soft select-none";

export function DiffRows({
  lines,
  isSplit,
  path,
}: {
  lines: readonly Line[];
  isSplit: boolean;
  path: string;
}) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [most, setMost] = useState(MANY);
  const shown = useMemo(() => folded(lines, opened), [lines, opened]);
  const beside = useMemo(() => paired(shown), [shown]);
  const partners = useMemo(() => partnersOf(beside), [beside]);
  const open = (fold: Fold) => setOpened((now) => new Set([...now, fold.from]));
  const rows = isSplit ? beside : shown;
  return (
    <>
      <table dir="ltr" className="diff source w-full table-fixed border-collapse">
        <caption className="sr-only">Changed lines of {path}</caption>
        <colgroup>
          <col className={isSplit ? "w-12" : "w-0 sm:w-12"} />
          {isSplit && <col />}
          <col className="w-12" />
          <col />
        </colgroup>
        <tbody>
          {rows
            .slice(0, most)
            .map((row) =>
              "count" in row ? (
                <Folded key={`fold ${row.from}`} fold={row} columns={isSplit ? 4 : 3} open={open} />
              ) : "change" in row ? (
                <Below key={keyOf(row)} line={row} partner={partners.get(row)} />
              ) : (
                <Beside key={`${keyOf(row.left)} ${keyOf(row.right)}`} pair={row} />
              ),
            )}
        </tbody>
      </table>
      {rows.length > most && (
        <div className="p-3">
          <Button onClick={() => setMost(most + MANY)}>
            Show more ({plural(rows.length - most, "row")} left)
          </Button>
        </div>
      )}
    </>
  );
}

/** Of each changed line, the one that it replaced or that replaced it. */
function partnersOf(rows: readonly (Pair | Fold)[]): ReadonlyMap<Line, Line> {
  const found = new Map<Line, Line>();
  for (const row of rows) {
    if ("count" in row || !row.left || !row.right || row.left === row.right) continue;
    found.set(row.left, row.right);
    found.set(row.right, row.left);
  }
  return found;
}

function keyOf(line: Line | null): string {
  return line ? `${line.before ?? "+"}:${line.now ?? "-"}` : "none";
}

function Folded({
  fold,
  columns,
  open,
}: {
  fold: Fold;
  columns: number;
  open: (fold: Fold) => void;
}) {
  return (
    <tr className="bg-sunken">
      <td colSpan={columns}>
        <button
          type="button"
          onClick={() => open(fold)}
          className="w-full px-3 py-0.5 text-left font-sans text-soft hover:text-ink focus-visible:-outline-offset-2"
        >
          Show {plural(fold.count, "unchanged line")}
        </button>
      </td>
    </tr>
  );
}

function Below({ line, partner }: { line: Line; partner: Line | undefined }) {
  return (
    <tr className={`is-${line.change}`}>
      <td className={`${NUMBER} max-sm:px-0`}>
        <span className="max-sm:hidden">{line.before && integer(line.before)}</span>
      </td>
      <td className={NUMBER}>
        {line.now ? (
          integer(line.now)
        ) : (
          <span className="sm:hidden">{line.before && integer(line.before)}</span>
        )}
      </td>
      <Content line={line} partner={partner} />
    </tr>
  );
}

function Beside({ pair: { left, right } }: { pair: Pair }) {
  const isSame = left === right;
  return (
    <tr>
      <td className={`${NUMBER} ${left && !isSame ? "is-removed" : ""}`}>
        {left?.before && integer(left.before)}
      </td>
      <Content line={left} partner={isSame ? undefined : (right ?? undefined)} />
      <td className={`${NUMBER} border-l border-line ${right && !isSame ? "is-added" : ""}`}>
        {right?.now && integer(right.now)}
      </td>
      <Content line={right} partner={isSame ? undefined : (left ?? undefined)} />
    </tr>
  );
}

function Content({ line, partner }: { line: Line | null; partner: Line | undefined }) {
  if (!line) return <td className="bg-sunken" />;
  return (
    <td className={`pr-2 align-top ${line.change === "same" ? "" : `is-${line.change}`}`}>
      <code className="source-line flex">
        <span aria-hidden="true" className="w-4 shrink-0 text-soft select-none">
          {SIGNS[line.change]}
        </span>
        {line.change !== "same" && <span className="sr-only">{line.change}: </span>}
        <span className="min-w-0">
          <Words line={line} partner={partner} />
          <Rest of={line.text} />
        </span>
      </code>
    </td>
  );
}

/** With the words marked that differ from the line in whose place it came. */
function Words({ line, partner }: { line: Line; partner: Line | undefined }) {
  const { text, change } = line;
  if (!partner || change === "same" || Math.max(text.length, partner.text.length) > MARKED)
    return <Plain text={text.slice(0, LONGEST)} />;
  const [before, now] = change === "removed" ? [text, partner.text] : [partner.text, text];
  const Mark = change === "removed" ? "del" : "ins";
  return changes(before, now, CODE)
    .filter((piece) => piece.change === "same" || piece.change === change)
    .map((piece, at) =>
      piece.change === "same" ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a line have only their position
        <Plain key={at} text={piece.text} />
      ) : (
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <Mark key={at}>
          <Plain text={piece.text} />
        </Mark>
      ),
    );
}

function Plain({ text }: { text: string }) {
  return <Pieces pieces={revealed({ text, tone: "plain" })} />;
}
