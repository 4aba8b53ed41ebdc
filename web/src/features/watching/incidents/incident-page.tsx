/** One incident: the figure and the limit, who knows of it, what followed, and who was told. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import { isMissing } from "~/api/problem";
import { textOf } from "~/charts/figure/range";
import { plural } from "~/format/numbers";
import { useTitle } from "~/ui/address";
import { Button } from "~/ui/button";
import { TextField } from "~/ui/field";
import { NotFound } from "~/ui/page-error";
import { Empty, Fact, Failed, Notice, PageHead, Panel, Skeleton } from "~/ui/panel";
import { useMay } from "~/ui/rights/allowed";
import { Time } from "~/ui/time";
import { incident, type WholeIncident, watchingKey } from "../queries";
import { INKS, SeverityBadge } from "../state-badge";
import { amount, entryOf, personOf, toneOf, whatHappened } from "../words";
import { Lasting } from "./incidents-page";

/** Seconds around an incident that its model's chart shows. */
const AROUND = 6 * 3_600;

export function IncidentPage() {
  const { project = "", incident: id = "" } = useParams({ strict: false });
  const { data, error, refetch } = useQuery(incident(project, id));
  useTitle(data?.name ?? "Incident");
  if (isMissing(error)) return <NotFound />;
  if (error) return <Failed error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton rows={8} />;
  return (
    <div className="mx-auto grid max-w-5xl grid-cols-[minmax(0,1fr)] gap-4">
      <div>
        <Link to="/$project/incidents" params={{ project }} className="link text-sm">
          ← All incidents
        </Link>
        <PageHead title={data.name} lead={<bdi>{data.subject_name}</bdi>} />
      </div>
      <Notice tone={data.resolved_at === null ? "bad" : "good"}>
        <p className="font-medium" aria-live="polite">
          <Lasting incident={data} />
        </p>
        <p dir="auto" className="[overflow-wrap:anywhere]">
          {data.said}
          {data.resolution && ` ${data.resolution}`}
        </p>
      </Notice>
      <Facts project={project} found={data} />
      <Acknowledge key={data.acknowledged_at} project={project} found={data} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
        <Timeline found={data} />
        <Messages found={data} />
      </div>
    </div>
  );
}

function Facts({ project, found }: { project: string; found: WholeIncident }) {
  const mayChange = useMay(project, "change_models");
  const unit = typeof found.rule.unit === "string" ? found.rule.unit : null;
  const end = found.resolved_at ?? found.fired_at;
  const range = textOf({
    range: { from: found.began_at - AROUND, to: end + AROUND },
    moment: found.fired_at,
  });
  return (
    <Panel>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-2.5 md:grid-cols-4">
        <Fact name="Severity">
          <SeverityBadge severity={found.severity} />
        </Fact>
        {found.value !== null && <Fact name="Value">{amount(found.value, unit)}</Fact>}
        {found.limit !== null && <Fact name="Limit">{amount(found.limit, unit)}</Fact>}
        <Fact name="True since">
          <Time at={found.began_at} />
        </Fact>
        <Fact name="Fired">
          <Time at={found.fired_at} />
        </Fact>
        <Fact name="Resolved">
          <Time at={found.resolved_at} />
        </Fact>
      </dl>
      <p className="mt-3 flex flex-wrap gap-x-4 gap-y-1">
        {found.model_id && (
          <Link
            to="/$project/$model/overview"
            params={{ project, model: found.model_id }}
            search={{ range }}
            className="link"
          >
            The model at that moment
          </Link>
        )}
        {found.rule_id === null ? (
          <span className="text-soft">The rule was deleted.</span>
        ) : (
          mayChange && (
            <Link
              to="/$project/watching/$rule"
              params={{ project, rule: found.rule_id }}
              className="link"
            >
              The rule
            </Link>
          )
        )}
      </p>
    </Panel>
  );
}

function Acknowledge({ project, found }: { project: string; found: WholeIncident }) {
  const [note, setNote] = useState("");
  const mayChange = useMay(project, "change_models");
  const queries = useQueryClient();
  const say = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      unwrap(
        api.POST("/api/incidents/{incident}/acknowledge", {
          params: { path: { incident: found.incident_id } },
          body: { note },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: watchingKey(project) }),
  });
  if (found.acknowledged_at !== null) {
    return (
      <p className="text-soft [overflow-wrap:anywhere]">
        Acknowledged by <bdi className="text-ink">{found.acknowledged_by}</bdi>{" "}
        <Time at={found.acknowledged_at} />.
      </p>
    );
  }
  if (!mayChange || found.resolved_at !== null) return null;
  return (
    <Panel title="Acknowledge" note="Nobody else is woken: escalation stops">
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          say.mutate();
        }}
      >
        <TextField
          label="Note"
          hint="What you do about it, if you like"
          className="min-w-56 flex-1"
          value={note}
          maxLength={1000}
          onChange={(event) => setNote(event.target.value)}
        />
        <Button type="submit" weight="main" icon="check" disabled={say.isPending}>
          Acknowledge
        </Button>
      </form>
      {say.error && (
        <div className="mt-3">
          <Failed error={say.error} />
        </div>
      )}
    </Panel>
  );
}

function isWaiting(one: WholeIncident["messages"][number]): boolean {
  return one.delivered_at === null && one.given_up_at === null;
}

function Timeline({ found }: { found: WholeIncident }) {
  return (
    <Panel title="Timeline" flush>
      <ol className="divide-y divide-line">
        {found.timeline.map((one, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a timeline only grows at its end
          <Entry key={place} one={one} />
        ))}
      </ol>
    </Panel>
  );
}

function Entry({ one }: { one: WholeIncident["timeline"][number] }) {
  const { heading, text } = entryOf(one.what, one.text);
  const person = personOf(one.by);
  return (
    <li className="grid gap-0.5 px-4 py-2">
      <p className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span
          dir="auto"
          className={`min-w-0 font-medium [overflow-wrap:anywhere] ${INKS[toneOf(one.what)]}`}
        >
          {heading}
        </span>
        <span className="text-sm text-soft">
          <Time at={one.at} as="stamp" />
        </span>
      </p>
      {text && (
        <p dir="auto" className="text-soft [overflow-wrap:anywhere]">
          {text}
        </p>
      )}
      {person && (
        <p className="text-sm text-soft [overflow-wrap:anywhere]">
          By <bdi>{person}</bdi>
        </p>
      )}
    </li>
  );
}

function Messages({ found }: { found: WholeIncident }) {
  return (
    <Panel title="Messages" flush>
      {found.messages.length === 0 ? (
        <Empty title="Nobody was told">
          The project had no channel for it when it fired, or the rule tells nobody.
        </Empty>
      ) : (
        <ul className="divide-y divide-line">
          {found.messages.map((one) => (
            <li key={`${one.channel} ${one.what} ${one.step}`} className="px-4 py-2">
              <p className="flex flex-wrap items-baseline justify-between gap-x-3">
                <bdi className="min-w-0 font-medium [overflow-wrap:anywhere]">{one.channel}</bdi>
                <span className="text-sm text-soft">{whatHappened(one.what).toLowerCase()}</span>
              </p>
              <p className="text-sm [overflow-wrap:anywhere]">
                {one.delivered_at !== null ? (
                  <span className="text-good">
                    Delivered <Time at={one.delivered_at} />
                  </span>
                ) : one.given_up_at !== null ? (
                  <span className="text-bad">
                    Given up <Time at={one.given_up_at} />
                  </span>
                ) : (
                  <span className="text-warn">
                    {one.attempts ? "Next try" : "Due"} <Time at={one.due_at} />
                    {one.attempts > 0 && ","}
                  </span>
                )}
                {(one.attempts > 1 || (one.attempts > 0 && isWaiting(one))) && (
                  <span className="text-soft"> after {plural(one.attempts, "attempt")}</span>
                )}
                {one.last_error && one.delivered_at === null && (
                  <span dir="auto" className="block text-soft">
                    {one.last_error}
                  </span>
                )}
              </p>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
