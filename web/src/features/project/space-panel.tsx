/** What a project takes by kind of data, and how long it keeps each kind. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import * as ask from "~/api/queries";
import { bytes, integer } from "~/format/numbers";
import { Confirm } from "~/ui/dialogs/dialog";
import { SelectField } from "~/ui/field";
import { Panel, Skeleton } from "~/ui/panel";
import { useMay } from "~/ui/rights/allowed";
import { Time } from "~/ui/time";
import { notify } from "~/ui/toasts";

const NAMES: Record<string, string> = {
  logs: "Log lines",
  events: "Generic events",
  backtests: "Finished backtests",
  samples: "Memory and processor usage",
  prices: "Bars and indicators",
  record: "Orders, cash, marks and lifecycle",
};
const CHOICES = [7, 30, 90, 180, 365, 1095];

interface Choice {
  kind: string;
  days: number | null;
}

export function SpacePanel({ project }: { project: string }) {
  const { data } = useQuery(ask.retention(project));
  const { data: archives } = useQuery({
    queryKey: ["project", project, "archives"],
    queryFn: async () =>
      (await unwrap(api.GET("/api/projects/{project}", { params: { path: { project } } })))
        .archives,
  });
  const [asked, setAsked] = useState<Choice | null>(null);
  const mayChange = useMay(project, "manage");
  const save = useSaving(project);
  const choose = (choice: Choice) =>
    choice.days === null ? save.mutate(choice) : setAsked(choice);
  return (
    <Panel title="Space">
      {!data && <Skeleton rows={6} />}
      <div className="grid gap-3">
        {data?.items.map((one) => (
          <div key={one.kind} className="grid items-end gap-2 sm:grid-cols-2">
            <Taken usage={one} />
            {one.kind === "record" || one.kind === "prices" ? (
              <p className="text-soft">{kept(one)}</p>
            ) : (
              <Days usage={one} disabled={!mayChange || save.isPending} choose={choose} />
            )}
          </div>
        ))}
        {data && archives && (
          <div className="grid items-end gap-2 sm:grid-cols-2">
            <div>
              <p>Archives of versions</p>
              <p className="num text-soft">
                {bytes(archives.used)} of {bytes(archives.quota)}
              </p>
            </div>
            <p className="text-soft">Kept as long as their models</p>
          </div>
        )}
        {data?.removed_until && (
          <p className="text-soft">
            Removed events were received until <Time at={data.removed_until} />. Their seals are
            kept, so records can still be checked.
          </p>
        )}
      </div>
      <Confirm
        open={asked !== null}
        onOpenChange={() => setAsked(null)}
        title={`Keep ${(NAMES[asked?.kind ?? ""] ?? "").toLowerCase()} for ${asked?.days} days?`}
        action="Remove what is older"
        danger
        act={async () => {
          if (asked) await save.mutateAsync(asked);
        }}
      >
        The server removes older ones within the hour, from all models of this project. This cannot
        be undone.
      </Confirm>
    </Panel>
  );
}

/** Of kinds that the project does not choose for itself. */
function kept({ kind, days }: ask.KindUsage): string {
  if (kind === "record" || days === null || days === undefined) return "Always kept";
  return `Under an hour kept for ${integer(days)} days, a setting of this server`;
}

function Taken({ usage }: { usage: ask.KindUsage }) {
  return (
    <div>
      <p>{NAMES[usage.kind] ?? usage.kind}</p>
      <p className="num text-soft">
        {bytes(usage.bytes)}
        {usage.removed > 0 && `, ${integer(usage.removed)} removed`}
      </p>
    </div>
  );
}

function Days({
  usage,
  disabled,
  choose,
}: {
  usage: ask.KindUsage;
  disabled: boolean;
  choose: (choice: Choice) => void;
}) {
  const days = usage.days ?? null;
  const choices = days === null || CHOICES.includes(days) ? CHOICES : [days, ...CHOICES];
  return (
    <SelectField
      label={`How long to keep ${(NAMES[usage.kind] ?? usage.kind).toLowerCase()}`}
      value={days ?? ""}
      disabled={disabled}
      onChange={(event) =>
        choose({ kind: usage.kind, days: event.target.value ? Number(event.target.value) : null })
      }
    >
      <option value="">For ever</option>
      {choices.map((one) => (
        <option key={one} value={one}>
          {one} days
        </option>
      ))}
    </SelectField>
  );
}

function useSaving(project: string) {
  const queries = useQueryClient();
  return useMutation({
    meta: { shown: true },
    mutationFn: ({ kind, days }: Choice) =>
      unwrap(
        api.PATCH("/api/projects/{project}/retention", {
          params: { path: { project } },
          body: { [kind]: days },
        }),
      ),
    onSuccess: async () => {
      notify({ tone: "good", text: "Saved." });
      await queries.invalidateQueries({ queryKey: ["project", project] });
    },
  });
}
