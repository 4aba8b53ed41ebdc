/** The account values of several backtests in one chart, each starting at 100. */

import { useMemo } from "react";
import { ChartFigure } from "~/charts/figure/chart-figure";
import type { Pane, View } from "~/charts/panes";
import { ratio } from "~/format/numbers";
import { Notice, Panel } from "~/ui/panel";
import { type AlignedLine, linesInWords, seenLines } from "./aligned";
import type { Column } from "./column";

export function ComparisonChart({
  columns,
  lines,
  drawn,
  align,
  setAlign,
  all,
  onSeen,
  returns,
}: {
  returns: readonly (number | null)[];
  columns: Column[];
  lines: readonly AlignedLine[];
  /** How the loaded lines are aligned; a newly chosen alignment may still be loading. */
  drawn: "time" | "start";
  align: "time" | "start";
  setAlign: (align: "time" | "start") => void;
  all: View | null;
  onSeen: (seen: View) => void;
}) {
  const name = (id: string) => columns.find((one) => one.id === id)?.name ?? id;
  const shape = columns.map((one) => `${one.id} ${one.name}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the columns are new objects each time, their content is not
  const panes = useMemo<Pane[]>(
    () => [
      {
        id: "compared",
        weight: 1,
        format: ratio,
        curves: lines.map(({ id, points }, place) => ({
          id,
          label: name(id),
          colour: `series-${place + 1}`,
          kind: "line",
          dash: Math.floor(place / 3),
          points,
        })),
      },
    ],
    [lines, shape],
  );
  return (
    <Panel title="Account values, starting at 100">
      {lines
        .filter(({ reason }) => reason)
        .map(({ id, reason }) => (
          <div key={id} className="mb-3">
            <Notice tone="warn">
              {name(id)}: {reason}
            </Notice>
          </div>
        ))}
      {all ? (
        <ChartFigure
          label="Account values, each starting at 100"
          words={(seen) =>
            seen.from <= all.from && seen.to >= all.to
              ? linesInWords(lines, name, returns)
              : linesInWords(seenLines(lines, seen), name)
          }
          panes={panes}
          axis={drawn}
          all={all}
          onSeen={onSeen}
          height={380}
          address="range"
          aside={
            <label className="flex min-h-7 items-center gap-2 text-sm">
              <input
                type="checkbox"
                className="size-4 accent-accent"
                checked={align === "start"}
                onChange={(event) => setAlign(event.target.checked ? "start" : "time")}
              />
              Align at the start
            </label>
          }
        />
      ) : (
        <p className="text-soft">None of these backtests has account values to draw.</p>
      )}
    </Panel>
  );
}
