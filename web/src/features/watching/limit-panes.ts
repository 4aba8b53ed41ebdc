/** The panes below a model's curve that its limits need: its account, its drawdown. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { drawdownPane, type Level, type Pane } from "~/charts/panes";
import { amount, money } from "~/format/numbers";
import { limitsOf } from "./limits";
import { accountCurves, rules } from "./queries";

/** The lines of the curve of profit and loss, and the panes below it; none for most models. */
export function useLimits(
  project: string,
  model: string,
): { isPending: boolean; profit: Level[]; below: Pane[] } {
  const { data: found, isPending: isAsking } = useQuery(rules(project, model));
  const limits = useMemo(() => limitsOf(found ?? [], model), [found, model]);
  const isNeeded = limits.account.length + limits.drawdown.length > 0;
  const { data, isLoading } = useQuery({ ...accountCurves(model), enabled: isNeeded });
  // Until then nobody knows how high the chart is.
  const isPending = isAsking || isLoading;
  return useMemo(() => {
    const below: Pane[] = [];
    if (data && limits.account.length && data.account.length > 1) {
      below.push({
        id: "account",
        weight: 0.5,
        format: (value) => amount(value, data.currency),
        exact: (value) => money(value, data.currency),
        curves: [
          {
            id: "account",
            label: "Account value",
            colour: "accent",
            kind: "line",
            points: data.account,
          },
        ],
        levels: limits.account,
      });
    }
    const fall = data?.drawdown;
    if (fall?.unit === "percent" && limits.drawdown.length && fall.items.length > 1)
      below.push({ ...drawdownPane(fall.items), weight: 0.5, levels: limits.drawdown });
    return { isPending, profit: limits.profit, below };
  }, [data, limits, isPending]);
}
