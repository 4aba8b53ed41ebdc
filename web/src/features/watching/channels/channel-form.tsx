/** Makes or changes a channel. Its address is written, and never shown again. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import { Button } from "~/ui/button";
import { about, SelectField, TextField } from "~/ui/field";
import { Failed } from "~/ui/panel";
import { notify } from "~/ui/toasts";
import { CheckField } from "../check-field";
import { type Channel, watchingKey } from "../queries";
import { bodyOf, type ChannelDraft, draftOf, type Every } from "./channel-words";

const FIELDS = ["name", "address", "quiet", "digest"];
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export function ChannelForm({
  project,
  kept,
  done,
}: {
  project: string;
  kept: Channel | null;
  done: (secret: string | null) => void;
}) {
  const [draft, setDraft] = useState<ChannelDraft>(() => draftOf(kept, HERE));
  const change = (next: Partial<ChannelDraft>) => setDraft({ ...draft, ...next });
  const queries = useQueryClient();
  const save = useMutation({
    meta: { shown: true },
    mutationFn: () => {
      const body = bodyOf(draft, kept);
      const address = draft.address.trim();
      if (!kept)
        return unwrap(
          api.POST("/api/projects/{project}/channels", {
            params: { path: { project } },
            body: { ...body, address },
          }),
        );
      return unwrap(
        api.PATCH("/api/channels/{channel}", {
          params: { path: { channel: kept.channel_id } },
          body: { ...body, ...(address ? { address } : {}), rotate_secret: false },
        }),
      );
    },
    onSuccess: async ({ name, secret }) => {
      notify({ tone: "good", text: `${name} is saved. Send a test to see whether it arrives.` });
      await queries.invalidateQueries({ queryKey: watchingKey(project) });
      done(secret);
    },
  });
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <TextField
        label="Name"
        hint="at most 60 characters"
        value={draft.name}
        required
        maxLength={60}
        placeholder="On call"
        onChange={(event) => change({ name: event.target.value })}
        error={about(save.error, "name")}
      />
      <TextField
        label="Address"
        hint={kept ? `empty: it stays ${kept.shown}` : "nobody can read it back"}
        value={draft.address}
        required={!kept}
        autoComplete="off"
        spellCheck={false}
        placeholder="https://example.com/hook"
        onChange={(event) => change({ address: event.target.value })}
        error={about(save.error, "address")}
      />
      <p className="text-sm text-soft">
        An address of Apprise, such as <code>mailtos://name:password@example.com</code>,{" "}
        <code>tgram://token/chat</code> or <code>ntfys://topic</code>; or <code>https://…</code> for
        a signed webhook.{" "}
        <a className="link inline-block" href="/docs/how-to/alerts/">
          How to write them
        </a>
      </p>
      <Waiting draft={draft} change={change} error={save.error} />
      {save.error && !about(save.error, ...FIELDS) && <Failed error={save.error} />}
      <Button type="submit" weight="main" className="justify-self-start" disabled={save.isPending}>
        {save.isPending ? "Please wait…" : kept ? "Save the channel" : "Add the channel"}
      </Button>
    </form>
  );
}

/** Quiet hours and digests: when messages wait. */
function Waiting({
  draft,
  change,
  error,
}: {
  draft: ChannelDraft;
  change: (next: Partial<ChannelDraft>) => void;
  error: unknown;
}) {
  const wrong = about(error, "quiet", "quiet.zone", "quiet.from", "quiet.to", "digest");
  return (
    <fieldset className="grid gap-3">
      <legend className="sr-only">When messages wait</legend>
      <CheckField
        label="Quiet hours: only what is critical is told"
        checked={draft.quiet}
        choose={(quiet) => change({ quiet })}
      />
      {draft.quiet && (
        <div className="grid grid-cols-2 gap-3">
          <TextField
            label="Quiet from"
            value={draft.from}
            onChange={(event) => change({ from: event.target.value })}
          />
          <TextField
            label="Quiet to"
            value={draft.to}
            onChange={(event) => change({ to: event.target.value })}
          />
        </div>
      )}
      <SelectField
        label="Send"
        value={draft.every}
        onChange={(event) => change({ every: event.target.value as Every })}
      >
        <option value="">Each message at once</option>
        <option value="hour">A digest every hour</option>
        <option value="day">A digest every day</option>
      </SelectField>
      {(draft.quiet || draft.every === "day") && (
        <div className="grid grid-cols-2 gap-3">
          {draft.every === "day" && (
            <TextField
              label="Digest at"
              value={draft.at}
              onChange={(event) => change({ at: event.target.value })}
            />
          )}
          <TextField
            label="Time zone"
            value={draft.zone}
            spellCheck={false}
            onChange={(event) => change({ zone: event.target.value })}
          />
        </div>
      )}
      {wrong && <p className="text-bad">{wrong}</p>}
    </fieldset>
  );
}
