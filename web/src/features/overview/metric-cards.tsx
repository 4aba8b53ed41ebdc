/** A live model's metrics, computed and reported, each with its explanation. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import * as ask from "~/api/queries";
import type { Metric } from "~/api/types";
import { formatMetric, isSigned } from "~/features/backtests/metrics";
import { AccountDialog } from "~/features/model/account-form";
import type { Cell } from "~/format/csv";
import { useView } from "~/ui/address";
import { Button } from "~/ui/button";
import { Panel } from "~/ui/panel";
import { useMay } from "~/ui/rights/allowed";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";

/** How many are shown at first; the most important come first. */
const AT_FIRST = 12;

const FILE: readonly FileColumn<readonly [string, Metric]>[] = [
  ["name", ([name]) => name],
  ["metric", ([, one]) => one.display_name],
  ["value", ([, one]) => one.value as Cell],
  ["type", ([, one]) => one.type],
];

export function MetricCards({ project, model }: { project: string; model: string }) {
  const { data } = useQuery(ask.metrics(model));
  const { data: account } = useQuery(ask.account(model));
  const [{ figures }, change] = useView<"figures">();
  const all = figures === "all";
  const own = Object.entries(data?.custom ?? {});
  const computed = Object.entries(data?.computed ?? {}).filter(([, one]) => one.value !== null);
  const found = [...own, ...computed];
  const whyNoReturn = data?.computed.total_return?.reason;
  const currency = data?.currency ?? null;
  if (found.length === 0) return null;
  const lacksCapital = whyNoReturn && account?.capital === null;
  return (
    <Panel title="Metrics" aside={<TableFile name="Metrics" columns={FILE} rows={found} />}>
      {lacksCapital ? (
        <LackingCapital project={project} model={model} />
      ) : (
        whyNoReturn && <p className="mb-3 text-sm text-soft">No return is shown. {whyNoReturn}</p>
      )}
      <dl className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,9.5rem),1fr))] gap-x-4 gap-y-2.5">
        {(all ? found : found.slice(0, AT_FIRST)).map(([name, one]) => (
          <div key={name} className="min-w-0" title={explained(one)}>
            <dt dir="auto" className="text-xs [overflow-wrap:anywhere] text-soft">
              {one.display_name || name}
            </dt>
            <dd className="num [overflow-wrap:anywhere]">{shown(name, one, currency)}</dd>
          </div>
        ))}
      </dl>
      {found.length > AT_FIRST && (
        <Button
          className="mt-3"
          aria-expanded={all}
          onClick={() => change({ figures: all ? "" : "all" })}
        >
          {all ? "Show fewer" : `Show all ${found.length}`}
        </Button>
      )}
    </Panel>
  );
}

/** Asks for the capital where it is missed. Only owners and admins may set it. */
function LackingCapital({ project, model }: { project: string; model: string }) {
  const [open, setOpen] = useState(false);
  const maySet = useMay(project, "manage");
  return (
    <div className="mb-3 grid justify-items-start gap-2 text-sm text-soft">
      <p>
        No return is shown, because the capital is not known.
        {!maySet && " An owner or admin of the project can set it."}
      </p>
      {maySet && <Button onClick={() => setOpen(true)}>Set the capital</Button>}
      <AccountDialog project={project} model={model} open={open} onOpenChange={setOpen} />
    </div>
  );
}

function shown(name: string, { value, type }: Metric, currency: string | null): string {
  const kind = type === "percentage" ? "percent" : type;
  return formatMetric(value, kind, { currency, signed: isSigned(name) });
}

/** Only computed metrics have an explanation. */
function explained(metric: Metric): string | undefined {
  return "explanation" in metric ? metric.explanation : undefined;
}
