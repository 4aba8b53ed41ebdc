/** What a node of a cluster has, and how much of it the plans of models have taken. */
import type { Schemas } from "~/api/client";
import { bytes, quantity } from "~/format/numbers";
import { Meter } from "~/ui/figures";
import { Fact } from "~/ui/panel";
import { Time } from "~/ui/time";

type Host = Schemas["ShownHost"];

export function NodeFacts({ host, node }: { host: Host; node: NonNullable<Host["node"]> }) {
  const known = host.state === "well" || host.state === "unwell"; // else it is of the past
  const cores = known ? node.cores - node.cores_free : null;
  const memory = known ? node.memory - node.memory_free : null;
  return (
    <dl className="mt-1.5 grid grid-cols-2 gap-x-4 gap-y-2 sm:grid-cols-4">
      <Fact name="Cores taken" hint="By the plans of models, for placing them">
        <Meter
          used={cores}
          most={node.cores}
          text={`${quantity(cores)} of ${quantity(node.cores)}`}
        />
      </Fact>
      <Fact name="Memory taken" hint="By the plans of models, for placing them">
        <Meter
          used={memory}
          most={node.memory}
          text={`${bytes(memory)} of ${bytes(node.memory)}`}
        />
      </Fact>
      <Fact name="Pythons">{host.pythons.join(", ") || "–"}</Fact>
      <Fact name="Last seen">{host.seen_at ? <Time at={host.seen_at} as="ago" /> : "–"}</Fact>
      <Fact name="Name">
        <span className="text-sm">{host.name}</span>
      </Fact>
      <Fact name="Address">{node.address}</Fact>
      <div className="col-span-2">
        <dt className="text-xs text-soft">Isolation</dt>
        <dd className="text-sm [overflow-wrap:anywhere]">{node.confinement || "–"}</dd>
      </div>
    </dl>
  );
}
