/** The entries of the command palette: pages, models and actions. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import * as ask from "~/api/queries";
import { pagesOf } from "~/features/model/pages";
import { chooseRising, chooseTheme } from "~/ui/appearance";
import { may } from "~/ui/rights/allowed";
import { rightFor } from "~/ui/rights/page-rights";
import type { Choice } from "./palette";

export function useCommands(project: string | undefined): Choice[] {
  const navigate = useNavigate();
  const { model } = useParams({ strict: false });
  const { data: me } = useQuery(ask.me);
  const { data: facts } = useQuery({ ...ask.model(model ?? ""), enabled: Boolean(model) });
  const { data: models } = useQuery({ ...ask.models(project ?? ""), enabled: Boolean(project) });
  const go = (to: string) => () => void navigate({ to });
  const choices: Choice[] = [];
  if (project) {
    for (const one of models ?? []) {
      choices.push({
        id: `m-${one.id}`,
        label: one.name,
        group: "Model",
        icon: "chart",
        words: one.id,
        run: go(`/${project}/${one.id}/overview`),
      });
    }
    if (facts) {
      for (const [page, label] of pagesOf(facts)) {
        choices.push({
          id: `page-${page}`,
          label: `This model: ${label}`,
          group: "Page",
          icon: "list",
          run: go(`/${project}/${facts.id}/${page}`),
        });
      }
    }
    const pages: Choice[] = [
      {
        id: "home",
        label: "Models",
        group: "Page",
        icon: "grid",
        words: "home",
        run: go(`/${project}`),
      },
      {
        id: "portfolio",
        label: "Portfolio",
        group: "Page",
        icon: "pie",
        words: "account exposure correlation contribution",
        run: go(`/${project}/portfolio`),
      },
      {
        id: "watching",
        label: "Watching: rules",
        group: "Page",
        icon: "bell",
        words: "alerts limits monitor",
        run: go(`/${project}/watching`),
      },
      {
        id: "incidents",
        label: "Incidents",
        group: "Page",
        icon: "bell",
        words: "alerts fired open",
        run: go(`/${project}/incidents`),
      },
      {
        id: "channels",
        label: "Channels: who is told",
        group: "Page",
        icon: "bell",
        words: "mail telegram webhook notify",
        run: go(`/${project}/channels`),
      },
      {
        id: "deploy",
        label: "Deploy a model",
        group: "Page",
        icon: "upload",
        words: "upload zip new",
        run: go(`/${project}/deploy`),
      },
      {
        id: "connect",
        label: "Connect a model that runs elsewhere",
        group: "Action",
        icon: "key",
        words: "new report push api",
        run: () =>
          void navigate({ to: "/$project", params: { project }, search: { connect: "yes" } }),
      },
      {
        id: "halt",
        label: "Halt: stop every model of this project",
        group: "Page",
        icon: "stop",
        words: "emergency kill panic resume",
        run: go(`/${project}/halt`),
      },
      {
        id: "members",
        label: "Members and invitations",
        group: "Page",
        icon: "people",
        run: go(`/${project}/members`),
      },
      {
        id: "keys",
        label: "Keys",
        group: "Page",
        icon: "key",
        words: "api token pass",
        run: go(`/${project}/keys`),
      },
      {
        id: "audit",
        label: "Audit",
        group: "Page",
        icon: "list",
        words: "history who",
        run: go(`/${project}/audit`),
      },
      {
        id: "project-settings",
        label: "Project settings",
        group: "Page",
        icon: "gear",
        run: go(`/${project}/settings`),
      },
    ];
    choices.push(...pages.filter(({ id }) => may(me, project, rightFor(id))));
  }
  for (const one of me?.projects ?? []) {
    if (one.id !== project) {
      choices.push({
        id: `p-${one.id}`,
        label: one.name,
        group: "Project",
        icon: "box",
        words: one.id,
        run: go(`/${one.id}`),
      });
    }
  }
  if (me?.is_operator) {
    choices.push({
      id: "health",
      label: "Health of the server",
      group: "Page",
      icon: "pulse",
      words: "status checks operator",
      run: go("/health"),
    });
    choices.push({
      id: "halt-all",
      label: "Halt: stop every model on this server",
      group: "Page",
      icon: "stop",
      words: "emergency kill panic resume operator",
      run: go("/halt"),
    });
  }
  choices.push(
    {
      id: "own-portfolio",
      label: "Portfolio of all projects",
      group: "Page",
      icon: "pie",
      words: "account exposure correlation contribution everything",
      run: go("/portfolio"),
    },
    {
      id: "new-project",
      label: "New project",
      group: "Page",
      icon: "plus",
      run: go("/new-project"),
    },
    {
      id: "account",
      label: "Account",
      group: "Page",
      icon: "user",
      words: "password sign-ins theme notifications",
      run: go("/account"),
    },
    {
      id: "light",
      label: "Light theme",
      group: "Appearance",
      icon: "gear",
      run: () => chooseTheme("light"),
    },
    {
      id: "dark",
      label: "Dark theme",
      group: "Appearance",
      icon: "gear",
      run: () => chooseTheme("dark"),
    },
    {
      id: "system",
      label: "System theme",
      group: "Appearance",
      icon: "gear",
      run: () => chooseTheme("system"),
    },
    {
      id: "green-up",
      label: "Green is up",
      group: "Appearance",
      icon: "gear",
      words: "colour color",
      run: () => chooseRising("green"),
    },
    {
      id: "red-up",
      label: "Red is up",
      group: "Appearance",
      icon: "gear",
      words: "colour color",
      run: () => chooseRising("red"),
    },
    {
      id: "blue-up",
      label: "Blue is up",
      group: "Appearance",
      icon: "gear",
      words: "colour color blind",
      run: () => chooseRising("blue"),
    },
  );
  return choices;
}
