/** The sidebar: the project, its pages, and its models with their status. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import * as ask from "~/api/queries";
import { statusOf, urgency } from "~/features/model/status";
import { StatusDot } from "~/features/model/status-badge";
import { Bell } from "~/features/watching/bell";
import { byName } from "~/format/names";
import { Icon, type IconName } from "~/ui/icons";
import { Menu, MenuItem, MenuLabel, MenuLine } from "~/ui/menu";
import { may } from "~/ui/rights/allowed";
import { rightFor } from "~/ui/rights/page-rights";
import { DemoBadge } from "./demo-badge";
import { ZoneSwitch } from "./zone-switch";

const ENTRY =
  "flex min-h-8 items-center gap-2.5 rounded-md px-2.5 text-soft transition-colors hover:bg-hover hover:text-ink";
const CURRENT = "bg-hover text-ink! font-medium";

export function Sidebar({
  project,
  search,
  done,
}: {
  project: string | undefined;
  search: () => void;
  done?: () => void;
}) {
  return (
    <div className="flex h-full min-h-0 flex-col gap-3 p-3">
      <div className="flex items-center justify-between gap-2">
        <Link
          to="/"
          className="flex items-center gap-2.5 px-2 py-1 text-lg font-semibold tracking-tight"
          onClick={done}
        >
          <img src="/static/mark.svg" alt="" width="24" height="24" />
          Tapeline
          <DemoBadge />
        </Link>
        {project && <Bell project={project} done={done} />}
      </div>
      <ProjectSwitch project={project} />
      <button
        type="button"
        onClick={search}
        className="flex min-h-8 items-center gap-2 rounded-md border border-line bg-ground px-2.5 text-soft hover:border-edge"
      >
        <Icon name="search" />
        <span className="flex-1 text-left">Search</span>
        <kbd className="font-sans text-xs">Ctrl K</kbd>
      </button>
      {project && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: a click on a link inside closes the menu
        <nav aria-label="Project" className="grid gap-0.5" onClick={done}>
          <ProjectPages project={project} />
        </nav>
      )}
      {project && <ModelList project={project} done={done} />}
      <div className="mt-auto grid gap-0.5">
        <Operator done={done} />
        <a href="/docs/" className={ENTRY}>
          <Icon name="book" />
          Documentation
        </a>
        <span className={ENTRY}>
          <Icon name="clock" />
          <ZoneSwitch className="flex-1" />
        </span>
        <Account />
      </div>
    </div>
  );
}

const PAGES: readonly [page: string, icon: IconName, label: string][] = [
  ["", "grid", "Models"],
  ["portfolio", "pie", "Portfolio"],
  ["watching", "bell", "Watching"],
  ["deploy", "upload", "Deploy"],
  ["members", "people", "Members"],
  ["keys", "key", "Keys"],
  ["audit", "list", "Audit"],
  ["settings", "gear", "Settings"],
];

/** The pages of a project that the reader's role gets. */
function ProjectPages({ project }: { project: string }) {
  const { data: me } = useQuery(ask.me);
  return PAGES.filter(([page]) => !me || may(me, project, rightFor(page))).map(
    ([page, icon, label]) => (
      <Entry key={page} to={page ? `/${project}/${page}` : `/${project}`} icon={icon} exact={!page}>
        {label}
      </Entry>
    ),
  );
}

/** Only the operator of the server sees its health. */
function Operator({ done }: { done: (() => void) | undefined }) {
  const { data: me } = useQuery(ask.me);
  if (!me?.is_operator) return null;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click on the link inside closes the menu
    <nav aria-label="Server" onClick={done}>
      <Entry to="/health" icon="pulse">
        Health
      </Entry>
    </nav>
  );
}

function Entry({
  to,
  icon,
  exact = false,
  children,
}: {
  to: string;
  icon: IconName;
  exact?: boolean;
  children: string;
}) {
  return (
    <Link
      to={to}
      className={ENTRY}
      activeProps={{ className: CURRENT, "aria-current": "page" }}
      activeOptions={{ exact }}
    >
      <Icon name={icon} />
      {children}
    </Link>
  );
}

function ModelList({ project, done }: { project: string; done: (() => void) | undefined }) {
  const { data: models } = useQuery(ask.models(project));
  const { data: runs } = useQuery(ask.deployed(project));
  if (!models?.length) return null;
  const byModel = new Map(runs?.map((run) => [run.model_id, run]));
  const shown = models
    .map((model) => ({ model, status: statusOf(byModel.get(model.id), model.lifecycle) }))
    .sort((a, b) => urgency(a.status) - urgency(b.status) || byName(a.model.name, b.model.name))
    .slice(0, 50);
  return (
    <nav
      aria-label="Models"
      className="grid min-h-0 content-start gap-0.5 overflow-y-auto border-t border-line pt-3"
    >
      {shown.map(({ model, status }) => (
        <Link
          key={model.id}
          to="/$project/$model/overview"
          params={{ project, model: model.id }}
          activeOptions={{ exact: false }}
          onClick={done}
          className={`${ENTRY} min-w-0`}
          activeProps={{ className: CURRENT }}
          title={`${model.name}: ${status.label}`}
        >
          <span className="flex size-4 items-center justify-center">
            <StatusDot tone={status.tone} />
          </span>
          <span dir="auto" className="min-w-0 flex-1 truncate">
            {model.name}
          </span>
          <span className="sr-only">{status.label}</span>
        </Link>
      ))}
    </nav>
  );
}

function ProjectSwitch({ project }: { project: string | undefined }) {
  const { data: me } = useQuery(ask.me);
  const navigate = useNavigate();
  const current = me?.projects.find((one) => one.id === project);
  return (
    <Menu
      label="Projects"
      trigger={
        <button
          type="button"
          className="flex min-h-10 min-w-0 items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-left hover:border-edge"
        >
          <span className="min-w-0 flex-1">
            <span className="block text-xs text-soft">Project</span>
            <span dir="auto" title={current?.name} className="block truncate font-medium">
              {current?.name ?? "Choose a project"}
            </span>
          </span>
          <Icon name="down" className="text-soft" />
        </button>
      }
    >
      {me?.projects.map((one) => (
        <MenuItem
          key={one.id}
          onSelect={() => void navigate({ to: "/$project", params: { project: one.id } })}
        >
          <span dir="auto" title={one.name} className="min-w-0 max-w-64 flex-1 truncate">
            {one.name}
          </span>
          <span className="text-xs text-soft">{one.role}</span>
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem onSelect={() => void navigate({ to: "/portfolio" })}>
        <Icon name="pie" />
        Portfolio of all projects
      </MenuItem>
      <MenuItem onSelect={() => void navigate({ to: "/new-project" })}>
        <Icon name="plus" />
        New project
      </MenuItem>
    </Menu>
  );
}

function Account() {
  const { data: me } = useQuery(ask.me);
  const navigate = useNavigate();
  return (
    <Menu
      label="Account"
      trigger={
        <button
          type="button"
          className="flex min-h-10 w-full min-w-0 items-center gap-2.5 rounded-md px-2.5 text-left hover:bg-hover"
        >
          <Icon name="user" className="text-soft" />
          <span dir="auto" title={me?.name} className="min-w-0 flex-1 truncate">
            {me?.name ?? "Account"}
          </span>
        </button>
      }
    >
      <MenuLabel>{me?.email}</MenuLabel>
      <MenuItem onSelect={() => void navigate({ to: "/account" })}>Account and theme</MenuItem>
      <MenuItem onSelect={signOut}>Sign out</MenuItem>
    </Menu>
  );
}

/** Posts the same form as the pages without JavaScript: the server ends the session. */
function signOut(): void {
  const form = document.createElement("form");
  form.method = "post";
  form.action = "/auth/signout/form";
  document.body.append(form);
  form.submit();
}
