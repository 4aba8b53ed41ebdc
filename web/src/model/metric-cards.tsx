/** Figures of merit, the platform's and the model's own, each with what it means. */
import { useQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";
import { written } from "~/features/backtests/measures";
import { Panel } from "~/ui/panel";

export function MetricCards({ model }: { model: string }) {
  const { data } = useQuery(ask.metrics(model));
  const own = Object.entries(data?.custom ?? {});
  const computed = Object.entries(data?.computed ?? {}).filter(([, one]) => one.value !== null);
  if (own.length + computed.length === 0) return null;
  return (
    <Panel title="Metrics">
      <dl className="grid grid-cols-2 gap-x-4 gap-y-2.5">
        {[...own, ...computed].map(([name, one]) => (
          <div key={name} className="min-w-0" title={one.explanation ?? ""}>
            <dt className="truncate text-xs text-soft">{one.display_name || name}</dt>
            <dd className="num truncate">{written(one.value, one.type)}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
