/** The incidents of a project: what rules found, the newest first. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { isMissing } from "~/api/problem";
import { dated } from "~/format/csv";
import { lasting } from "~/format/times";
import { useView } from "~/ui/address";
import { Button, ButtonLink } from "~/ui/button";
import { NotFound } from "~/ui/page-error";
import { Empty, Failed, Panel, Skeleton } from "~/ui/panel";
import { Choice } from "~/ui/select";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { Time, useNow } from "~/ui/time";
import { type Incident, incidents } from "../queries";
import { SeverityBadge } from "../state-badge";
import { WatchingFrame } from "../watching-frame";

const FILE: readonly FileColumn<Incident>[] = [
  ["id", (one) => one.incident_id],
  ["rule", (one) => one.name],
  ["severity", (one) => one.severity],
  ["about", (one) => one.subject_name],
  ["said", (one) => one.said],
  ["value", (one) => one.value],
  ["limit", (one) => one.limit],
  ["fired_at", (one) => dated(one.fired_at)],
  ["resolved_at", (one) => dated(one.resolved_at)],
  ["acknowledged_at", (one) => dated(one.acknowledged_at)],
  ["acknowledged_by", (one) => one.acknowledged_by],
];
const STATES = [
  ["", "Open and resolved"],
  ["open", "Open"],
  ["resolved", "Resolved"],
] as const;

export function IncidentsPage() {
  const { project = "" } = useParams({ strict: false });
  const [{ state = "" }, change] = useView<"state">();
  const asked = state === "open" || state === "resolved" ? state : null;
  const found = useInfiniteQuery(incidents(project, asked));
  const items = found.data?.pages.flatMap((page) => page.items) ?? [];
  if (isMissing(found.error)) return <NotFound />;
  return (
    <WatchingFrame here="Incidents" lead="What the rules found, and what followed from it">
      <Panel
        title="Incidents"
        flush
        aside={
          <span className="flex flex-wrap items-center gap-3">
            <TableFile name="Incidents" columns={FILE} rows={items} />
            <Choice
              label="State of incidents"
              value={asked ?? ""}
              options={STATES}
              choose={(next) => change({ state: next })}
            />
          </span>
        }
      >
        {found.error ? (
          <Failed error={found.error} retry={() => void found.refetch()} />
        ) : found.isPending ? (
          <Skeleton rows={6} />
        ) : items.length === 0 ? (
          <Empty title={asked === "open" ? "No open incidents" : "No incidents"}>
            <p>When a rule fires, it is here, with everything that followed.</p>
            <p className="mt-3">
              <ButtonLink to="/$project/watching" params={{ project }}>
                See the rules
              </ButtonLink>
            </p>
          </Empty>
        ) : (
          <ul className="divide-y divide-line">
            {items.map((one) => (
              <Row key={one.incident_id} project={project} incident={one} />
            ))}
          </ul>
        )}
        {found.hasNextPage && (
          <div className="border-t border-line p-3">
            <Button disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
              Show older
            </Button>
          </div>
        )}
      </Panel>
    </WatchingFrame>
  );
}

function Row({ project, incident: one }: { project: string; incident: Incident }) {
  return (
    <li className="grid gap-x-4 gap-y-1 px-4 py-2.5 md:grid-cols-[minmax(0,1fr)_14rem]">
      <div className="grid min-w-0 gap-0.5">
        <p className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <Link
            to="/$project/incidents/$incident"
            params={{ project, incident: one.incident_id }}
            dir="auto"
            className="link min-w-0 font-medium [overflow-wrap:anywhere]"
          >
            {one.name}
          </Link>
          <SeverityBadge severity={one.severity} />
        </p>
        <p className="[overflow-wrap:anywhere]">
          <bdi className="font-medium">{one.subject_name}</bdi>: <span dir="auto">{one.said}</span>
        </p>
      </div>
      <div className="text-sm md:text-right">
        <p className={one.resolved_at === null ? "font-medium text-bad" : "text-soft"}>
          <Lasting incident={one} />
        </p>
        <p className="text-soft">
          fired <Time at={one.fired_at} />
        </p>
        {one.acknowledged_by && (
          <p className="text-soft [overflow-wrap:anywhere]">
            acknowledged by <bdi>{one.acknowledged_by}</bdi>
          </p>
        )}
      </div>
    </li>
  );
}

export function Lasting({ incident }: { incident: Incident }) {
  const now = useNow(10);
  const over = incident.resolved_at;
  const length = lasting((over ?? now) - incident.fired_at);
  return over === null ? `Open for ${length}` : `Resolved after ${length}`;
}
