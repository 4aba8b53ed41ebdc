/** Asks which version of a model to start. It proposes the one that ran last, as a start without a choice runs. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import * as ask from "~/api/queries";
import { Confirm } from "~/ui/dialogs/dialog";
import { SelectField } from "~/ui/field";
import { Failed, Skeleton } from "~/ui/panel";
import { Time } from "~/ui/time";
import { type Offered, offered } from "./offered-versions";

export interface Starting {
  id: string;
  name: string;
  versionId?: string | undefined;
}

export function StartDialog({
  starting,
  open,
  onOpenChange,
  start,
}: {
  starting: Starting;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  start: (versionId: string) => Promise<unknown>;
}) {
  const { data: model, error } = useQuery(ask.model(starting.id));
  const versions = useInfiniteQuery(ask.versions(starting.id));
  const [picked, setPicked] = useState<string | null>(null);
  const known = versions.data?.pages.flatMap((page) => page.items);
  const { choices, usual } = offered(known ?? [], model?.run ?? null);
  const chosen = choices.find(({ id }) => id === (picked ?? starting.versionId ?? usual));
  const isReady = model !== undefined && known !== undefined && chosen !== undefined;
  const problem = error ?? versions.error;
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title={`Start ${starting.name}?`}
      action={chosen ? `Start v${chosen.version}` : "Start"}
      ready={isReady}
      act={() => start(chosen?.id ?? "")}
    >
      {problem ? (
        <Failed error={problem} />
      ) : isReady ? (
        <SelectField
          label="Version"
          hint={<Note of={chosen} usual={usual} />}
          className="mb-3 text-ink"
          value={chosen.id}
          onChange={(event) => setPicked(event.target.value)}
        >
          {choices.map((one) => (
            <option key={one.id} value={one.id}>
              {`v${one.version}${one.description ? ` · ${one.description}` : ""}`}
            </option>
          ))}
        </SelectField>
      ) : (
        <Skeleton rows={2} />
      )}
      {isReady && model.run && model.run.version_id !== chosen.id && (
        <Link
          className="link mb-3 block"
          to="/$project/$model/versions/compare"
          params={{ project: model.project_id, model: model.id }}
          search={{ before: model.run.version_id, now: chosen.id }}
          onClick={() => onOpenChange(false)}
        >
          What changes from v{model.run.version ?? "?"}, which{" "}
          {model.run.ended_at ? "ran last" : "runs now"}
        </Link>
      )}
      If the model is already running, the old instance stops before the new one starts, so two
      never trade at the same time.
    </Confirm>
  );
}

function Note({ of: { id, createdAt }, usual }: { of: Offered; usual: string | null }) {
  if (id === usual) return "ran last";
  return createdAt === null ? null : (
    <>
      uploaded <Time at={createdAt} as="ago" />
    </>
  );
}
