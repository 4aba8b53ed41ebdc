/** The members of a project, and open invitations. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api, type Schemas, unwrap } from "~/api/client";
import * as ask from "~/api/queries";
import { dated } from "~/format/csv";
import { useTitle } from "~/ui/address";
import { Button, IconButton } from "~/ui/button";
import { Command } from "~/ui/copy";
import { Confirm } from "~/ui/dialogs/dialog";
import { SelectField } from "~/ui/field";
import { Empty, Failed, Notice, PageHead, Panel, Skeleton } from "~/ui/panel";
import { useMay } from "~/ui/rights/allowed";
import { Select } from "~/ui/select";
import { type FileColumn, TableFile } from "~/ui/tables/table-file";
import { Time } from "~/ui/time";
import { notify } from "~/ui/toasts";

type Role = Schemas["Member"]["role"];

const ROLES: Record<Role, string> = {
  owner: "can do everything, including deleting the project",
  admin: "can manage members, keys and models",
  member: "can deploy and stop models and create keys",
  viewer: "can only view",
};
const NAMES = Object.keys(ROLES) as Role[];
const PEOPLE: readonly FileColumn<Schemas["Member"]>[] = [
  ["name", (one) => one.name],
  ["email", (one) => one.email],
  ["role", (one) => one.role],
  ["since", (one) => dated(one.since)],
  ["user_id", (one) => one.user_id],
];
const INVITED: readonly FileColumn<Schemas["Invitation"]>[] = [
  ["role", (one) => one.role],
  ["invited_by", (one) => one.invited_by],
  ["expires_at", (one) => dated(one.expires_at)],
  ["id", (one) => one.id],
];

/** The roles that somebody may give. */
function rolesFor(owns: boolean): Role[] {
  return owns ? NAMES : NAMES.filter((one) => one !== "owner");
}

export function MembersPage() {
  const { project = "" } = useParams({ strict: false });
  const { data: me } = useQuery(ask.me);
  const mine = me?.projects.find((one) => one.id === project);
  const manages = useMay(project, "manage");
  useTitle("Members");
  return (
    <div className="mx-auto max-w-4xl">
      <PageHead title="Members" lead={mine ? <bdi>{mine.name}</bdi> : null} />
      <div className="grid gap-4">
        <Members project={project} me={me?.id ?? ""} manages={manages} />
        {manages && <Invitations project={project} />}
      </div>
    </div>
  );
}

function Members({ project, me, manages }: { project: string; me: string; manages: boolean }) {
  const owns = useMay(project, "own");
  // Only owners change owners, and make somebody one.
  const mayChange = (one: Schemas["Member"]) => manages && (owns || one.role !== "owner");
  const { data, error, refetch } = useQuery(ask.members(project));
  const [leaving, setLeaving] = useState<Schemas["Member"] | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const change = useMutation({
    mutationFn: ({ user, role }: { user: string; role: Role }) =>
      unwrap(
        api.PATCH("/api/projects/{project}/members/{user}", {
          params: { path: { project, user } },
          body: { role },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["project", project, "members"] }),
  });
  if (error) return <Failed error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton />;
  return (
    <Panel title="People" aside={<TableFile name="Members" columns={PEOPLE} rows={data} />} flush>
      <ul>
        {data.map((one) => (
          <li
            key={one.user_id}
            className="flex flex-wrap items-center gap-x-4 gap-y-1 border-line px-4 py-2.5 not-first:border-t"
          >
            <div className="min-w-40 flex-1">
              <p dir="auto" className="font-medium [overflow-wrap:anywhere]">
                {one.name}{" "}
                {one.user_id === me && <span className="font-normal text-soft">(you)</span>}
              </p>
              <p className="text-sm text-soft [overflow-wrap:anywhere]">
                {one.email} · since <Time at={one.since} />
              </p>
            </div>
            {mayChange(one) ? (
              <Select
                aria-label={`Role of ${one.name}`}
                className="w-auto"
                value={one.role}
                onChange={(event) =>
                  change.mutate({ user: one.user_id, role: event.target.value as Role })
                }
              >
                {rolesFor(owns).map((role) => (
                  <option key={role}>{role}</option>
                ))}
              </Select>
            ) : (
              <span className="text-soft">{one.role}</span>
            )}
            {(mayChange(one) || one.user_id === me) && (
              <IconButton
                label={one.user_id === me ? "Leave the project" : `Remove ${one.name}`}
                icon="close"
                onClick={() => setLeaving(one)}
              />
            )}
          </li>
        ))}
      </ul>
      <dl className="grid gap-x-6 gap-y-0.5 border-t border-line px-4 py-3 text-sm text-soft sm:grid-cols-2">
        {NAMES.map((role) => (
          <div key={role} className="flex gap-2">
            <dt className="w-16 font-medium">{role}</dt>
            <dd>{ROLES[role]}</dd>
          </div>
        ))}
      </dl>
      <Confirm
        open={leaving !== null}
        onOpenChange={(open) => !open && setLeaving(null)}
        title={leaving?.user_id === me ? "Leave this project?" : `Remove ${leaving?.name}?`}
        action={leaving?.user_id === me ? "Leave" : "Remove"}
        danger
        act={async () => {
          const user = leaving?.user_id ?? "";
          await unwrap(
            api.DELETE("/api/projects/{project}/members/{user}", {
              params: { path: { project, user } },
            }),
          );
          await queries.invalidateQueries({ queryKey: ["project", project] });
          if (user === me) {
            await queries.invalidateQueries({ queryKey: ["me"] });
            await navigate({ to: "/" });
          }
        }}
      >
        Access to the project ends at once. Keys that this member created keep working.
      </Confirm>
    </Panel>
  );
}

function Invitations({ project }: { project: string }) {
  const { data, error } = useQuery(ask.invitations(project));
  const owns = useMay(project, "own");
  const [role, setRole] = useState<Role>("member");
  const queries = useQueryClient();
  const refresh = () =>
    queries.invalidateQueries({ queryKey: ["project", project, "invitations"] });
  const invite = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST("/api/projects/{project}/invitations", {
          params: { path: { project } },
          body: { role },
        }),
      ),
    onSuccess: refresh,
  });
  const withdraw = useMutation({
    mutationFn: (invitation: string) =>
      unwrap(
        api.DELETE("/api/projects/{project}/invitations/{invitation}", {
          params: { path: { project, invitation } },
        }),
      ),
    onSuccess: async () => {
      notify({ tone: "good", text: "The invitation was withdrawn. Its link no longer works." });
      await refresh();
    },
  });
  return (
    <Panel
      title="Invitations"
      aside={data?.length ? <TableFile name="Invitations" columns={INVITED} rows={data} /> : null}
    >
      <div className="flex flex-wrap items-end gap-3">
        <SelectField
          label="Invite as"
          value={role}
          onChange={(event) => setRole(event.target.value as Role)}
          className="w-40"
        >
          {rolesFor(owns).map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
        <Button
          weight="main"
          icon="plus"
          disabled={invite.isPending}
          onClick={() => invite.mutate()}
        >
          Create link
        </Button>
      </div>
      {invite.data && (
        <div className="mt-3 grid gap-2">
          <Notice tone="info">
            Send this link to one person. It works once and is shown only once.
          </Notice>
          <Command label="invitation link" text={invite.data.url} />
        </div>
      )}
      {error && <Failed error={error} />}
      {data?.length ? (
        <ul className="mt-4 rounded-md border border-line">
          {data.map((one) => (
            <li
              key={one.id}
              className="flex flex-wrap items-center gap-x-4 border-line px-3 py-1.5 not-first:border-t"
            >
              <span className="min-w-40 flex-1">
                {one.role}, invited by <bdi>{one.invited_by}</bdi>
              </span>
              <span className="text-sm text-soft">
                expires <Time at={one.expires_at} />
              </span>
              <Button onClick={() => withdraw.mutate(one.id)}>Withdraw</Button>
            </li>
          ))}
        </ul>
      ) : (
        <Empty title="No open invitations" />
      )}
    </Panel>
  );
}
