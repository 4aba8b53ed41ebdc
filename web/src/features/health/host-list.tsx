/** The machines that run models: how each is, since when, and what an operator decided about it. */
import type { Schemas } from "~/api/client";
import { plural } from "~/format/numbers";
import { Panel } from "~/ui/panel";
import { Time } from "~/ui/time";
import { DrainButton } from "./drain-button";
import { NodeFacts } from "./node-facts";
import { StateDot } from "./state-dot";
import type { State } from "./states";

type Host = Schemas["ShownHost"];

/** A machine that is away and has no runs is missed by nobody. */
function colour(host: Host): State {
  if (host.state === "unreachable") return host.running > 0 ? "red" : "yellow";
  return host.state === "well" ? "green" : "yellow";
}

/** Nodes of a cluster apart from the servers, which run no models then. */
export function HostList({ hosts, here }: { hosts: Host[]; here: string }) {
  const nodes = hosts.filter((host) => host.node);
  const servers = hosts.filter((host) => !host.node);
  const severalRun = nodes.length === 0 && servers.length > 1;
  return (
    <>
      <Hosts title="Nodes" hosts={nodes} here={here} drains />
      <Hosts
        title={nodes.length > 0 ? "Servers" : "Hosts"}
        hosts={servers}
        here={here}
        drains={severalRun}
      />
    </>
  );
}

function Hosts({
  title,
  hosts,
  here,
  drains,
}: {
  title: string;
  hosts: Host[];
  here: string;
  /** Whether models of one could move to another. */
  drains: boolean;
}) {
  if (hosts.length === 0) return null;
  return (
    <Panel title={title} flush>
      <ul>
        {hosts.map((host) => (
          <li
            key={host.name}
            className="grid gap-x-4 gap-y-0.5 border-line px-4 py-2 not-first:border-t sm:grid-cols-[minmax(0,16rem)_minmax(0,1fr)_6rem]"
          >
            <span className="flex min-w-0 items-baseline gap-2.5 font-medium [overflow-wrap:anywhere]">
              <StateDot state={colour(host)} />
              <span className="min-w-0">
                {host.machine || host.name}
                {host.name === here && <span className="font-normal text-soft"> (this one)</span>}
              </span>
            </span>
            <p className="min-w-0 text-soft [overflow-wrap:anywhere]">
              <Standing host={host} />
            </p>
            {host.node && (
              <div className="min-w-0 text-soft sm:col-span-full sm:row-start-2 xl:col-span-1 xl:col-start-2">
                <NodeFacts host={host} node={host.node} />
              </div>
            )}
            <div className="flex items-center gap-3 sm:col-start-3 sm:row-start-1 sm:flex-col sm:items-end xl:row-span-2">
              <span className="num whitespace-nowrap">{plural(host.running, "run")}</span>
              {drains && host.state !== "forgotten" && <DrainButton host={host} />}
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function afterwards(host: Host): string {
  if (host.running === 0) return ".";
  return host.node
    ? ": its models end with their leases, and go on elsewhere."
    : ": nobody knows whether its models run.";
}

function Standing({ host }: { host: Host }) {
  return (
    <>
      {host.state === "well" && `Well. Tapeline ${host.version}.`}
      {host.state === "unwell" && `Unwell: ${host.trouble}.`}
      {host.state === "unreachable" && (
        <>
          Unreachable
          {host.seen_at && (
            <>
              {" "}
              since <Time at={host.seen_at} />
            </>
          )}
          {afterwards(host)} If the machine is gone for good:{" "}
          <code>tapeline hosts forget {host.name}</code>.
        </>
      )}
      {host.state === "forgotten" && `Declared gone by ${host.forgotten_by}.`}
      {host.drained_at && host.state !== "forgotten" && (
        <>
          {" It is drained: it takes no new runs."}
          {host.running > 0 && " Its models move to other hosts that have room."}
        </>
      )}
    </>
  );
}
