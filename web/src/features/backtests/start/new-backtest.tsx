/** The dialog that runs a backtest: version, arguments and plan. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { messageOf } from "~/api/problem";
import * as ask from "~/features/backtests/queries";
import type { Arguments, Version } from "~/features/backtests/types";
import { refresh } from "~/features/backtests/use-updates";
import { memory } from "~/format/numbers";
import { Button, ButtonLink } from "~/ui/button";
import { Dialog } from "~/ui/dialogs/dialog";
import { about, SelectField, TextField } from "~/ui/field";
import { Empty, Failed, Skeleton } from "~/ui/panel";
import { notify } from "~/ui/toasts";
import { InvalidArguments } from "./arguments";
import { ArgumentsForm, type ArgumentsState, read, stateOf } from "./arguments-form";

export interface Template {
  versionId: string;
  plan: string;
  args: Arguments | null;
  description: string;
}

interface Place {
  project: string;
  model: string;
}

export function NewBacktest({
  project,
  model,
  open,
  onOpenChange,
  like,
}: Place & { open: boolean; onOpenChange: (open: boolean) => void; like?: Template | null }) {
  const versions = useQuery({ ...ask.versions(model), enabled: open });
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={like ? "Run the backtest again" : "Run a backtest"}
      wide
    >
      {versions.error ? (
        <Failed error={versions.error} retry={() => void versions.refetch()} />
      ) : !versions.data ? (
        <Skeleton rows={5} />
      ) : versions.data.length === 0 ? (
        <Empty title="No version to test yet">
          <p className="mb-4">
            Upload a version first. Then you can run its backtest here as often as you like.
          </p>
          <ButtonLink
            weight="main"
            icon="upload"
            to="/$project/deploy"
            params={{ project }}
            search={{ model }}
          >
            Upload a version
          </ButtonLink>
        </Empty>
      ) : (
        <StartForm
          project={project}
          model={model}
          versions={versions.data}
          like={like ?? null}
          done={() => onOpenChange(false)}
        />
      )}
    </Dialog>
  );
}

function StartForm({
  project,
  model,
  versions,
  like,
  done,
}: Place & { versions: Version[]; like: Template | null; done: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const plans = useQuery(ask.plans);
  const first =
    versions.find(({ version_id: id }) => id === like?.versionId) ?? (versions[0] as Version);
  const [version, setVersion] = useState(first);
  const [plan, setPlan] = useState(like?.plan ?? first.plan);
  const [description, setDescription] = useState(like?.description ?? "");
  const [args, setArgs] = useState<ArgumentsState>(() =>
    stateOf(like ? like.args : first.backtest_args),
  );
  const [unread, setUnread] = useState<InvalidArguments | null>(null);
  const { mutate, isPending, error } = useMutation({
    meta: { shown: true },
    mutationFn: ask.start,
    onSuccess: async (made) => {
      await refresh(queries, model);
      done();
      notify({ tone: "good", text: "The backtest is queued." });
      await navigate({
        to: "/$project/$model/$backtest/backtest",
        params: { project, model, backtest: made.backtestId },
      });
    },
  });

  function choose(id: string) {
    const chosen = versions.find(({ version_id: one }) => one === id);
    if (!chosen) return;
    setVersion(chosen);
    setArgs(stateOf(chosen.backtest_args));
    setPlan(chosen.plan);
  }
  function submit(event: React.FormEvent) {
    event.preventDefault();
    try {
      const values = read(args);
      setUnread(null);
      mutate({
        projectId: project,
        modelId: model,
        versionId: version.version_id,
        plan,
        backtestArgs: JSON.stringify(values),
        backtestDescription: description,
      });
    } catch (why) {
      if (why instanceof InvalidArguments) setUnread(why);
      else throw why;
    }
  }

  const offered = Object.entries(plans.data ?? {});
  return (
    <form onSubmit={submit} className="grid gap-4" noValidate>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Version"
          value={version.version_id}
          onChange={(event) => choose(event.target.value)}
        >
          {versions.map((one) => (
            <option key={one.version_id} value={one.version_id}>
              {`v${one.version}${one.description ? ` · ${one.description}` : ""}`}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Plan"
          value={plan}
          error={about(error, "plan")}
          onChange={(event) => setPlan(event.target.value)}
        >
          {!offered.some(([name]) => name === plan) && <option value={plan}>{plan}</option>}
          {offered.map(([name, { cpu, ram }]) => (
            <option key={name} value={name}>
              {`${name} · ${memory(ram)}, ${cpu / 1000} ${cpu === 1000 ? "core" : "cores"}`}
            </option>
          ))}
        </SelectField>
      </div>
      <ArgumentsForm key={version.version_id} state={args} onChange={setArgs} error={unread} />
      <TextField
        label="Description"
        hint="optional"
        placeholder="What is different this time?"
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      {error && !about(error, "plan") && (
        <p role="alert" className="rounded-md bg-bad-ground px-3 py-2 text-bad">
          {messageOf(error)}
        </p>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={done}>Cancel</Button>
        <Button type="submit" weight="main" icon="play" disabled={isPending}>
          {isPending ? "Please wait…" : "Run"}
        </Button>
      </div>
    </form>
  );
}
