/** The health of the server, for its operator: every check, background work, slow statements. */
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "~/api/client";
import * as ask from "~/api/queries";
import { HaltButton } from "~/features/halting/halt-button";
import { useTitle } from "~/ui/address";
import { Empty, Failed, PageHead, Panel, Skeleton } from "~/ui/panel";
import { Time } from "~/ui/time";
import { CheckList } from "./check-list";
import { HostList } from "./host-list";
import { SUMMARY } from "./states";
import { WorkTable } from "./work-table";

const LOOKED_EVERY = 15_000; // milliseconds

export function HealthPage() {
  const { data, error, refetch } = useQuery({ ...ask.health, refetchInterval: LOOKED_EVERY });
  useTitle("Health");
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton rows={12} />;
  return (
    <div className="mx-auto grid max-w-5xl gap-4">
      <PageHead
        title="Health"
        lead={
          <>
            {SUMMARY[data.state]} Tapeline {data.version}, checked <Time at={data.at} as="ago" />.
          </>
        }
        actions={<HaltButton project={null} label="Halt everything" />}
      />
      {error && <Failed error={error} retry={() => void refetch()} />}
      <CheckList rows={data.rows} />
      <HostList hosts={data.hosts} here={data.host} />
      <WorkTable work={data.work} />
      <Slowest found={data.slowest} at={data.at} />
    </div>
  );
}

function Slowest({ found, at }: { found: Schemas["Slow"][]; at: number }) {
  return (
    <Panel title="Slowest statements of the last hour" flush>
      {found.length === 0 ? (
        <Empty title="No slow statements">Every statement took less than 50 ms.</Empty>
      ) : (
        <ul>
          {found.map((one) => (
            <li
              key={one.statement}
              className="grid gap-x-4 border-line px-4 py-2 not-first:border-t sm:grid-cols-[5rem_6rem_minmax(0,1fr)]"
            >
              <span className="num">{one.seconds.toFixed(2)} s</span>
              <Time at={at - one.ago} as="ago" />
              <code className="min-w-0 text-sm text-soft [overflow-wrap:anywhere]">
                {one.statement}
              </code>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
