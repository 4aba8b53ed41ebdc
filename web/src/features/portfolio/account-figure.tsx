/** The account of all models together over time, with its drawdown. The address holds the range. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import type { Portfolio } from "~/api/types";
import { ChartFigure } from "~/charts/chart-figure";
import type { View } from "~/charts/panes";
import { plural } from "~/format/numbers";
import { Panel } from "~/ui/panel";
import { inWords, panesOf, rangeOf, type Shape, spanOf } from "./curve";
import type { PortfolioSearch } from "./portfolio-search";

const SHAPES: [Shape, string][] = [
  ["value", "Value"],
  ["return", "Return"],
];

export function AccountFigure({ found }: { found: Portfolio }) {
  const search: PortfolioSearch = useSearch({ strict: false });
  const { show: shape = "value", from, to } = search;
  const navigate = useNavigate();
  // The chart moves by itself from here on; the address only follows it.
  const [start] = useState<View | null>(() => rangeOf(found, from, to));
  const change = useCallback(
    (next: Record<string, unknown>) =>
      void navigate({
        to: ".",
        search: (old: object) => ({ ...old, ...next }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const all = useMemo(() => spanOf(found), [found]);
  const panes = useMemo(() => panesOf(found, shape), [found, shape]);
  const onSeen = (seen: View) => {
    const isWhole = all !== null && seen.from <= all.from && seen.to >= all.to;
    const range = { from: Math.round(seen.from), to: Math.round(seen.to) };
    change(isWhole ? { from: undefined, to: undefined } : range);
  };
  return (
    <Panel
      title="Account value and drawdown"
      aside={
        found.returns.length > 1 && (
          <div role="group" aria-label="Curve" className="flex gap-0.5 rounded-md bg-sunken p-0.5">
            {SHAPES.map(([name, label]) => (
              <button
                key={name}
                type="button"
                aria-pressed={shape === name}
                onClick={() => change({ show: name === "return" ? name : undefined })}
                className={`min-h-7 rounded-sm px-2 text-sm ${shape === name ? "bg-surface font-medium shadow-sm" : "text-soft hover:text-ink"}`}
              >
                {label}
              </button>
            ))}
          </div>
        )
      }
    >
      {all ? (
        <ChartFigure
          label="Account value and drawdown of all models"
          words={(seen) => inWords(found, seen)}
          caption={caption(found)}
          panes={panes}
          all={all}
          start={start}
          onSeen={onSeen}
          height={360}
        />
      ) : (
        <p className="text-soft">
          {found.account.length === 1
            ? "The first day is not over yet. The curve has one value per day and begins tomorrow."
            : found.reason}
        </p>
      )}
    </Panel>
  );
}

function caption({ left_out_days: before }: Portfolio): string {
  const closes = "Each value is that at the close of a UTC day; models join with their capital.";
  return before ? `${closes} ${plural(before, "earlier day")} are not shown.` : closes;
}
