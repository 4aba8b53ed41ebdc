/** The rules of a project: what each watches, and how it is. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { isMissing } from "~/api/problem";
import * as ask from "~/api/queries";
import { ButtonLink } from "~/ui/button";
import { NotFound } from "~/ui/page-error";
import { Empty, Failed, Panel, Skeleton } from "~/ui/panel";
import { Allowed, useMay } from "~/ui/rights/allowed";
import { useNow } from "~/ui/time";
import { conditions, rules } from "../queries";
import { WatchingFrame } from "../watching-frame";
import { byUrgency } from "../words";
import { RuleRow } from "./rule-row";

export function RulesPage() {
  const { project = "" } = useParams({ strict: false });
  const found = useQuery(rules(project));
  const known = useQuery(conditions);
  const models = useQuery(ask.models(project));
  const mayChange = useMay(project, "change_models");
  const now = useNow(10);
  if (isMissing(found.error)) return <NotFound />;
  const names = new Map(models.data?.map((one) => [one.id, one.name]));
  const about = new Map(known.data?.items.map((one) => [one.name, one]));
  const error = found.error ?? known.error;
  return (
    <WatchingFrame
      here="Rules"
      lead="Rules look at every model all the time, and say when something is not as it should be"
      actions={
        <Allowed project={project} right="change_models">
          <ButtonLink to="/$project/watching/new" params={{ project }} weight="main" icon="plus">
            Add a rule
          </ButtonLink>
        </Allowed>
      }
    >
      {error ? (
        <Failed error={error} retry={() => void found.refetch()} />
      ) : !found.data || !known.data || models.isPending ? (
        <Skeleton rows={8} />
      ) : found.data.length === 0 ? (
        <Nothing project={project} mayChange={mayChange} />
      ) : (
        <Panel flush>
          <ul className="divide-y divide-line">
            {found.data.toSorted(byUrgency(now)).map((rule) => (
              <RuleRow
                key={rule.rule_id}
                project={project}
                rule={rule}
                condition={about.get(conditionName(rule.when))}
                model={rule.model_id ? (names.get(rule.model_id) ?? rule.model_id) : null}
                mayChange={mayChange}
                now={now}
              />
            ))}
          </ul>
        </Panel>
      )}
    </WatchingFrame>
  );
}

function conditionName(when: string | Record<string, unknown>): string {
  return typeof when === "string" ? when : String(when.condition);
}

function Nothing({ project, mayChange }: { project: string; mayChange: boolean }) {
  return (
    <Panel>
      <Empty title="Nothing is watched yet">
        <p>
          A model that says it is running may have been silent for days. A rule notices: no order
          for two hours, a drawdown of ten percent, a crash. It tells you, and can stop the model.
        </p>
        {mayChange && (
          <p className="mt-3 flex flex-wrap justify-center gap-2">
            <ButtonLink to="/$project/channels" params={{ project }}>
              Say where to tell you
            </ButtonLink>
            <ButtonLink to="/$project/watching/new" params={{ project }} weight="main" icon="plus">
              Add the first rule
            </ButtonLink>
          </p>
        )}
      </Empty>
    </Panel>
  );
}
