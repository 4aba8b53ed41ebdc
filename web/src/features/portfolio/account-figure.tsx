/** The account of all models together over time, with its drawdown. The address holds the range. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Portfolio } from "~/api/types";
import { ChartFigure } from "~/charts/figure/chart-figure";
import { limitsOf } from "~/features/watching/limits";
import { rules } from "~/features/watching/queries";
import { plural } from "~/format/numbers";
import { useView } from "~/ui/address";
import { Panel } from "~/ui/panel";
import { inWords, panesOf, type Shape, spanOf } from "./curve";

const SHAPES: [Shape, string][] = [
  ["value", "Value"],
  ["return", "Return"],
];

export function AccountFigure({ found, project }: { found: Portfolio; project: string | null }) {
  const [{ show }, change] = useView<"show">();
  const shape: Shape = show === "return" ? "return" : "value";
  const all = useMemo(() => spanOf(found), [found]);
  const { data: watched } = useQuery({ ...rules(project ?? ""), enabled: project !== null });
  // A limit in money is one of the project's own currency.
  const limits = useMemo(() => limitsOf(watched ?? [], null), [watched]);
  const panes = useMemo(() => panesOf(found, shape, limits), [found, shape, limits]);
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
                onClick={() => change({ show: name === "return" ? name : "" })}
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
          height={360}
          address="range"
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
