/**
 * Keeps the stream of a project open in a hidden tab, for notifications. One tab does it for each
 * project, and few do it at all: a browser has six connections for all tabs of one server.
 */
import type { Sight } from "./stream";

const PREFIX = "tapeline.vigil.";
const MOST = 3;
const kept = new Set<string>();
const watchers = new Set<() => void>();

/** Whether a page is in sight, or is kept as if it were. */
export function watchful(project: string): Sight {
  return {
    isHidden: () => document.hidden && !kept.has(project),
    watch: (listener) => {
      document.addEventListener("visibilitychange", listener);
      watchers.add(listener);
      return () => {
        document.removeEventListener("visibilitychange", listener);
        watchers.delete(listener);
      };
    },
  };
}

/** Waits until no other tab watches the project, then calls `begin`. Returns how to end it. */
export function watchOver(project: string, begin: () => void): () => void {
  const leave = new AbortController();
  const name = PREFIX + project;
  const hold = async () => {
    begin();
    const { held = [] } = await navigator.locks.query();
    if (held.filter((lock) => lock.name?.startsWith(PREFIX)).length <= MOST) kept.add(project);
    tell();
    await new Promise((end) => leave.signal.addEventListener("abort", end));
    kept.delete(project);
    tell();
  };
  // Where there are no locks, there are no notifications either.
  if ("locks" in navigator)
    void navigator.locks.request(name, { signal: leave.signal }, hold).catch(() => undefined);
  return () => leave.abort();
}

function tell(): void {
  for (const watcher of watchers) watcher();
}
