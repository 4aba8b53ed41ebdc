/** A model's settings: name, account, secrets, id, download of its record, deletion. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, unwrap } from "~/api/client";
import * as ask from "~/api/queries";
import { Button, IconButton } from "~/ui/button";
import { Command } from "~/ui/copy";
import { Confirm } from "~/ui/dialogs/dialog";
import { TextField } from "~/ui/field";
import { type Names, NamesForm } from "~/ui/names-form";
import { Empty, Failed, Panel, Skeleton } from "~/ui/panel";
import { Allowed } from "~/ui/rights/allowed";
import { Time } from "~/ui/time";
import { notify } from "~/ui/toasts";
import { AccountForm } from "./account-form";

export function SettingsPage() {
  const { model: id = "" } = useParams({ strict: false });
  const { data: model } = useQuery(ask.model(id));
  if (!model) return null;
  const project = model.project_id;
  return (
    <div className="grid max-w-4xl gap-4">
      <Allowed project={project} right="change_models">
        <Naming key={model.name} model={model as ask.Model} />
      </Allowed>
      {model.type !== "screener" && (
        <Panel title="Capital and positions">
          <AccountForm project={project} model={id} />
        </Panel>
      )}
      <Allowed project={project} right="change_models">
        <Secrets model={id} />
      </Allowed>
      <Panel title="Id">
        <p className="mb-2 text-soft">
          A program that reports for this model sends this id with one of the project's keys.
        </p>
        <Command label="model id" text={model.id} />
      </Panel>
      <Record model={id} />
      <Allowed project={project} right="change_models">
        <End model={model as ask.Model} />
      </Allowed>
    </div>
  );
}

function Naming({ model }: { model: ask.Model }) {
  const queries = useQueryClient();
  const save = useMutation({
    meta: { shown: true },
    mutationFn: ({ name, description }: Names) =>
      unwrap(
        api.PATCH("/api/models/{model}", {
          params: { path: { model: model.id } },
          body: { name, general_description: description },
        }),
      ),
    onSuccess: async () => {
      notify({ tone: "good", text: "Saved." });
      await queries.invalidateQueries({ queryKey: ["model", model.id] });
      await queries.invalidateQueries({ queryKey: ["project", model.project_id, "models"] });
    },
  });
  return (
    <Panel title="Name">
      <NamesForm known={{ name: model.name, description: model.general_description }} saving={save}>
        Save
      </NamesForm>
    </Panel>
  );
}

function Secrets({ model }: { model: string }) {
  const { data, error } = useQuery(ask.secrets(model));
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const [ending, setEnding] = useState<string | null>(null);
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: ["model", model, "secrets"] });
  const put = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      unwrap(
        api.PUT("/api/models/{model}/secrets/{secret}", {
          params: { path: { model, secret: name.trim() } },
          body: { value },
        }),
      ),
    onSuccess: async () => {
      notify({ tone: "good", text: `${name} was saved. The next run will get it.` });
      setName("");
      setValue("");
      await refresh();
    },
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    put.mutate();
  }
  return (
    <Panel title="Secrets">
      <p className="mb-3 text-soft">
        Environment variables for future runs, for example exchange keys. Values are write-only:
        nobody can read them back.
      </p>
      {error ? (
        <Failed error={error} />
      ) : !data ? (
        <Skeleton rows={1} />
      ) : data.length ? (
        <ul className="mb-4 rounded-md border border-line">
          {data.map((one) => (
            <li
              key={one.name}
              className="flex items-center gap-3 border-line px-3 py-1 not-first:border-t"
            >
              <code className="min-w-0 flex-1 font-mono text-sm [overflow-wrap:anywhere]">
                {one.name}
              </code>
              <span className="text-sm text-soft">
                set <Time at={one.changed_at} as="ago" />
              </span>
              <IconButton
                label={`Delete ${one.name}`}
                icon="close"
                onClick={() => setEnding(one.name)}
              />
            </li>
          ))}
        </ul>
      ) : (
        <Empty title="No secrets yet" />
      )}
      <form
        className="grid items-end gap-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto]"
        onSubmit={submit}
      >
        <TextField
          label="Variable"
          placeholder="EXCHANGE_KEY"
          value={name}
          required
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label="Value"
          type="password"
          value={value}
          required
          autoComplete="off"
          onChange={(event) => setValue(event.target.value)}
        />
        <Button type="submit" disabled={put.isPending}>
          Set
        </Button>
      </form>
      {put.error && (
        <div className="mt-3">
          <Failed error={put.error} />
        </div>
      )}
      <Confirm
        open={ending !== null}
        onOpenChange={(open) => !open && setEnding(null)}
        title={`Delete ${ending}?`}
        action="Delete"
        danger
        act={async () => {
          await unwrap(
            api.DELETE("/api/models/{model}/secrets/{secret}", {
              params: { path: { model, secret: ending ?? "" } },
            }),
          );
          await refresh();
        }}
      >
        A current run keeps this secret until it ends. Later runs do not get it.
      </Confirm>
    </Panel>
  );
}

function Record({ model }: { model: string }) {
  return (
    <Panel title="Record">
      <p className="mb-3 text-soft">
        Everything this model did, event by event, with the hash chain that proves nothing was
        changed later.
      </p>
      <a className="link" href={`/api/models/${model}/tape`} download={`${model}.ndjson`}>
        Download the whole tape (NDJSON)
      </a>
    </Panel>
  );
}

function End({ model }: { model: ask.Model }) {
  const [open, setOpen] = useState(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <Panel title="Delete">
      <p className="mb-3 text-soft">
        Stops the model and permanently deletes its versions, record and backtests.
      </p>
      <Button weight="danger" onClick={() => setOpen(true)}>
        Delete this model
      </Button>
      <Confirm
        open={open}
        onOpenChange={setOpen}
        title={`Delete ${model.name}?`}
        action="Delete permanently"
        danger
        act={async () => {
          await unwrap(
            api.POST("/model/delete", { body: { projectId: model.project_id, modelId: model.id } }),
          );
          await queries.invalidateQueries({ queryKey: ["project", model.project_id] });
          await navigate({ to: "/$project", params: { project: model.project_id } });
        }}
      >
        This also deletes its whole record and cannot be undone. If you may need the tape, download
        it first.
      </Confirm>
    </Panel>
  );
}
