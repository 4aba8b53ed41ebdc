/** On a model's page: the state of every rule that looks at it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Empty, Failed, Panel, Skeleton } from "~/ui/panel";
import { useMay } from "~/ui/rights/allowed";
import { useNow } from "~/ui/time";
import { rules } from "../queries";
import { StateBadges } from "../state-badge";
import { byUrgency } from "../words";
import { States } from "./rule-row";

export function ModelRules({ project, model }: { project: string; model: string }) {
  const { data, error, refetch } = useQuery(rules(project, model));
  const mayChange = useMay(project, "change_models");
  const now = useNow(10);
  const add = (
    <Link
      to="/$project/watching/new"
      params={{ project }}
      search={{ model }}
      className="link text-sm"
    >
      Add a rule
    </Link>
  );
  return (
    <Panel title="Rules" flush aside={mayChange && data?.length ? add : null}>
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={2} />
      ) : data.length === 0 ? (
        <Empty title="Nothing watches this model">
          {mayChange ? add : "Members of the project can add rules."}
        </Empty>
      ) : (
        <ul className="divide-y divide-line">
          {data.toSorted(byUrgency(now)).map((rule) => (
            <li key={rule.rule_id} className="grid gap-1 px-4 py-2.5">
              <p className="flex flex-wrap items-start justify-between gap-x-3 gap-y-1">
                <span dir="auto" className="min-w-0 font-medium [overflow-wrap:anywhere]">
                  {rule.name}
                </span>
                <StateBadges rule={rule} now={now} />
              </p>
              {rule.trouble ? (
                <p className="text-sm text-warn [overflow-wrap:anywhere]">{rule.trouble}</p>
              ) : (
                <States project={project} states={rule.states} isOfModel />
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
