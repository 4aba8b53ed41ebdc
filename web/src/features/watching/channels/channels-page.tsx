/** The channels of a project: where messages about incidents go, and whether they arrive. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import { isMissing } from "~/api/problem";
import { Button, IconButton } from "~/ui/button";
import { Command } from "~/ui/copy";
import { Confirm, Dialog } from "~/ui/dialogs/dialog";
import { Menu, MenuItem, MenuLine } from "~/ui/menu";
import { NotFound } from "~/ui/page-error";
import { Empty, Failed, Notice, Panel, Skeleton } from "~/ui/panel";
import { useMay } from "~/ui/rights/allowed";
import { Time } from "~/ui/time";
import { type Channel, channels, watchingKey } from "../queries";
import { WatchingFrame } from "../watching-frame";
import { ChannelForm } from "./channel-form";
import { holding } from "./channel-words";

/** Null: nothing is open. "new": a channel is made. */
type Edited = Channel | "new" | null;

export function ChannelsPage() {
  const { project = "" } = useParams({ strict: false });
  const found = useQuery(channels(project));
  const mayChange = useMay(project, "change_models");
  const [edited, setEdited] = useState<Edited>(null);
  const [secret, setSecret] = useState<string | null>(null);
  if (isMissing(found.error)) return <NotFound />;
  const add = (
    <Button weight="main" icon="plus" onClick={() => setEdited("new")}>
      Add a channel
    </Button>
  );
  return (
    <WatchingFrame
      here="Channels"
      lead="Where messages about incidents go"
      actions={mayChange && found.data?.length ? add : null}
    >
      {found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} />
      ) : !found.data ? (
        <Skeleton rows={6} />
      ) : found.data.length === 0 ? (
        <Panel>
          <Empty title="Nobody is told yet">
            <p>
              A channel takes messages by mail, Telegram, Slack, Discord, ntfy, a webhook and many
              more. Without one, incidents are shown here alone.
            </p>
            {mayChange && <p className="mt-3">{add}</p>}
          </Empty>
        </Panel>
      ) : (
        <Panel flush>
          <ul className="divide-y divide-line">
            {found.data.map((one) => (
              <Row
                key={one.channel_id}
                project={project}
                channel={one}
                mayChange={mayChange}
                edit={() => setEdited(one)}
                told={setSecret}
              />
            ))}
          </ul>
        </Panel>
      )}
      <Dialog
        open={edited !== null}
        onOpenChange={(open) => !open && setEdited(null)}
        title={edited === "new" ? "Add a channel" : "Change the channel"}
        wide
      >
        {edited !== null && (
          <ChannelForm
            project={project}
            kept={edited === "new" ? null : edited}
            done={(shown) => {
              setEdited(null);
              setSecret(shown);
            }}
          />
        )}
      </Dialog>
      <Dialog
        open={secret !== null}
        onOpenChange={(open) => !open && setSecret(null)}
        title="The secret of the webhook"
        keep
      >
        <div className="grid gap-3">
          <Notice tone="warn">
            Copy it now: it is shown only once. Every message is signed with it, so that the
            receiver can tell that it comes from here.
          </Notice>
          <Command label="secret" text={secret ?? ""} />
        </div>
      </Dialog>
    </WatchingFrame>
  );
}

function Row({
  project,
  channel,
  mayChange,
  edit,
  told,
}: {
  project: string;
  channel: Channel;
  mayChange: boolean;
  edit: () => void;
  told: (secret: string | null) => void;
}) {
  const test = useTest(project, channel);
  const held = holding(channel);
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3">
      <div className="grid min-w-40 flex-1 gap-0.5">
        <h2 dir="auto" className="text-base [overflow-wrap:anywhere]">
          {channel.name}
        </h2>
        <p className="text-soft [overflow-wrap:anywhere]">
          <code className="font-mono text-xs">{channel.shown}</code>
        </p>
        {held && <p className="text-sm text-soft">{held}</p>}
        {channel.failing_since !== null && (
          <p className="text-bad [overflow-wrap:anywhere]">
            Messages do not arrive since <Time at={channel.failing_since} />
            {channel.last_error && `: ${channel.last_error}`}
          </p>
        )}
        <Tested channel={channel} test={test} />
      </div>
      {mayChange && (
        <div className="flex items-center gap-1">
          <Button disabled={test.isPending} onClick={() => test.mutate()}>
            {test.isPending ? "Sending…" : "Send a test"}
          </Button>
          <Actions project={project} channel={channel} edit={edit} told={told} />
        </div>
      )}
    </li>
  );
}

function useTest(project: string, channel: Channel) {
  const queries = useQueryClient();
  return useMutation({
    meta: { shown: true },
    mutationFn: () =>
      unwrap(
        api.POST("/api/channels/{channel}/test", {
          params: { path: { channel: channel.channel_id } },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: watchingKey(project) }),
  });
}

/** What became of the test just made, or of the last one. */
function Tested({ channel, test }: { channel: Channel; test: ReturnType<typeof useTest> }) {
  if (test.error) return <Failed error={test.error} />;
  return (
    <p role="status" className="text-sm [overflow-wrap:anywhere]">
      {test.data ? (
        <span className={test.data.arrived ? "text-good" : "text-bad"}>
          {test.data.arrived ? "It arrived" : "It did not arrive"}
          {test.data.status !== null && ` (${test.data.status})`}: {test.data.message}
        </span>
      ) : channel.tested_at === null ? (
        <span className="text-soft">Never tested</span>
      ) : (
        <span className="text-soft">
          Tested <Time at={channel.tested_at} as="ago" />
          {channel.test_result && `: ${channel.test_result}`}
        </span>
      )}
    </p>
  );
}

function Actions({
  project,
  channel,
  edit,
  told,
}: {
  project: string;
  channel: Channel;
  edit: () => void;
  told: (secret: string | null) => void;
}) {
  const [asks, setAsks] = useState<"secret" | "delete" | null>(null);
  const queries = useQueryClient();
  const params = { path: { channel: channel.channel_id } };
  const refresh = () => queries.invalidateQueries({ queryKey: watchingKey(project) });
  return (
    <>
      <Menu trigger={<IconButton label={`Actions for ${channel.name}`} icon="more" />}>
        <MenuItem onSelect={edit}>Edit</MenuItem>
        {channel.kind === "webhook" && (
          <MenuItem onSelect={() => setAsks("secret")}>New secret…</MenuItem>
        )}
        <MenuLine />
        <MenuItem danger onSelect={() => setAsks("delete")}>
          Delete
        </MenuItem>
      </Menu>
      <Confirm
        open={asks === "secret"}
        onOpenChange={() => setAsks(null)}
        title={`A new secret for ${channel.name}?`}
        action="Make a new secret"
        act={async () => {
          const body = { rotate_secret: true };
          const { secret } = await unwrap(api.PATCH("/api/channels/{channel}", { params, body }));
          told(secret);
        }}
      >
        Messages are signed with it at once. The receiver has to know it.
      </Confirm>
      <Confirm
        open={asks === "delete"}
        onOpenChange={() => setAsks(null)}
        title={`Delete ${channel.name}?`}
        action="Delete"
        danger
        act={async () => {
          await unwrap(api.DELETE("/api/channels/{channel}", { params }));
          await refresh();
        }}
      >
        What it was still to be told is not sent any more.
      </Confirm>
    </>
  );
}
