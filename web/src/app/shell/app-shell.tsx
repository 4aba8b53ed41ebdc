/** The frame around every page: a sidebar on wide screens, behind a menu button on phones. */
import { useQuery } from "@tanstack/react-query";
import { Outlet, useParams, useRouterState } from "@tanstack/react-router";
import { Dialog } from "radix-ui";
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import * as ask from "~/api/queries";
import { session } from "~/api/session";
import { HaltNotice } from "~/features/halting/halt-notice";
import { Notifier } from "~/features/notifications/notifier";
import { Bell } from "~/features/watching/bell";
import { ConnectionNote } from "~/live/connection-note";
import { useLiveProject } from "~/live/use-live";
import { Button, IconButton } from "~/ui/button";
import { useReturnedFocus } from "~/ui/dialogs/returned-focus";
import { Toasts } from "~/ui/toasts";
import { DemoBadge } from "./demo-badge";
import { KeyList } from "./key-list";
import { lastProject, rememberProject } from "./last-project";
import { useOpening } from "./opening";
import { Palette } from "./palette";
import { ServerWarning } from "./server-warning";
import { Sidebar } from "./sidebar";
import { useCommands } from "./use-commands";
import { useZone, ZoneSwitch } from "./zone-switch";

export function AppShell() {
  const params = useParams({ strict: false });
  const { data: me } = useQuery(ask.me);
  // On pages without a project, for example the account, the sidebar keeps the last project.
  const project = params.project ?? (me ? lastProject(me) : undefined);
  const [searching, setSearching] = useState(false);
  const [menu, setMenu] = useState(false);
  const returnFocus = useReturnedFocus(menu);
  const openSearch = useCallback(() => setSearching(true), []);
  const choices = useCommands(project);
  const zone = useZone();
  const main = useRef<HTMLElement>(null);
  useFocusOnNewPage(main);
  useOpening(main);
  useEffect(() => {
    if (params.project) rememberProject(params.project);
  }, [params.project]);

  return (
    <div className="grid min-h-dvh grid-cols-[minmax(0,1fr)] lg:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="fixed top-2 left-2 z-50 -translate-y-20 rounded-md bg-surface px-4 py-2 shadow-lg focus:translate-y-0"
      >
        Skip to the content
      </a>
      <aside className="sticky top-0 hidden h-dvh border-r border-line bg-surface lg:block">
        <Sidebar project={project} search={openSearch} />
      </aside>
      <div className="min-w-0">
        <header className="sticky top-0 z-20 flex h-12 items-center justify-between border-b border-line bg-surface px-2 lg:hidden">
          <IconButton label="Menu" icon="menu" onClick={() => setMenu(true)} />
          <span className="flex items-center gap-2 font-semibold">
            <img src="/static/mark.svg" alt="" width="20" height="20" />
            Tapeline
            <DemoBadge />
          </span>
          <span className="flex min-w-0 items-center">
            <ZoneSwitch brief className="max-w-24 text-xs" />
            {project && <Bell project={project} />}
            <IconButton label="Search" icon="search" onClick={openSearch} />
          </span>
        </header>
        <main
          id="main"
          ref={main}
          tabIndex={-1}
          className="mx-auto max-w-[110rem] px-4 py-5 outline-none lg:px-6"
        >
          <SignedOut />
          <ServerWarning />
          {params.project && <HaltNotice key={params.project} project={params.project} />}
          {project && (
            <LiveProject key={project} project={project} silent={params.model !== undefined} />
          )}
          {/* Another zone changes every time on a page, also those that no state depends on. */}
          <Outlet key={zone} />
        </main>
      </div>
      <Dialog.Root open={menu} onOpenChange={setMenu}>
        <Dialog.Portal>
          <div className="fixed inset-0 z-30 bg-[rgb(0_0_0/0.45)]" />
          <Dialog.Content
            aria-describedby={undefined}
            onCloseAutoFocus={returnFocus}
            className="fixed inset-y-0 left-0 z-40 w-72 max-w-[85vw] bg-surface shadow-xl"
          >
            <Dialog.Title className="sr-only">Menu</Dialog.Title>
            <Sidebar
              project={project}
              search={() => {
                setMenu(false);
                setSearching(true);
              }}
              done={() => setMenu(false)}
            />
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
      <Palette open={searching} onOpenChange={setSearching} choices={choices} />
      <KeyList choices={choices} search={openSearch} />
      <Toasts />
    </div>
  );
}

/** A signed-out user keeps the page until they act; it no longer updates. */
function SignedOut() {
  const isLost = useSyncExternalStore(session.watch, () => session.isLost);
  if (!isLost) return null;
  return (
    <div
      role="alert"
      className="mb-4 flex flex-wrap items-center gap-3 rounded-md bg-warn-ground px-4 py-2.5 text-warn"
    >
      <p className="min-w-0 flex-1">You are signed out, so this page no longer updates.</p>
      <Button onClick={() => session.signIn()}>Sign in again</Button>
    </div>
  );
}

/** A page about one model has its own stream and shows its own connection note. */
function LiveProject({ project, silent }: { project: string; silent: boolean }) {
  const stream = useLiveProject(project);
  return (
    <div className="mb-2 empty:mb-0 has-[.sr-only]:mb-0">
      <ConnectionNote stream={stream} silent={silent} />
      <Notifier project={project} stream={stream} />
    </div>
  );
}

/** Moves the focus to a new page, so that screen readers announce it. */
function useFocusOnNewPage(main: React.RefObject<HTMLElement | null>) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    main.current?.focus({ preventScroll: true });
  }, [path, main]);
}
