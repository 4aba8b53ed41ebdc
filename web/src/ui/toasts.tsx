/** Short notifications. Good news disappears after a few seconds; errors stay until dismissed. */
import { useSyncExternalStore } from "react";
import { IconButton } from "./button";

export interface Toast {
  tone: "good" | "bad";
  text: string;
}

interface Numbered extends Toast {
  id: number;
}

const SHOWN_MS = 5_000;
let toasts: readonly Numbered[] = [];
let count = 0;
const watchers = new Set<() => void>();

export function notify(toast: Toast): void {
  count += 1;
  const id = count;
  show([...toasts.filter((one) => one.text !== toast.text), { ...toast, id }].slice(-4));
  // Errors stay until they are dismissed.
  if (toast.tone === "good") setTimeout(() => dismiss(id), SHOWN_MS);
}

export function Toasts() {
  const shown = useSyncExternalStore(watch, () => toasts);
  return (
    <section
      aria-label="Notifications"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-3 bottom-3 z-50 grid justify-items-end gap-2 sm:left-auto sm:w-96"
    >
      {shown.map((toast) => (
        <div
          key={toast.id}
          role={toast.tone === "bad" ? "alert" : "status"}
          className={`pointer-events-auto flex w-full items-start gap-2 rounded-lg border bg-surface py-2 pr-1 pl-4 shadow-lg ${toast.tone === "bad" ? "border-bad text-bad" : "border-line"}`}
        >
          <p className="min-w-0 flex-1 py-1.5 [overflow-wrap:anywhere]">{toast.text}</p>
          <IconButton label="Dismiss" icon="close" onClick={() => dismiss(toast.id)} />
        </div>
      ))}
    </section>
  );
}

function dismiss(id: number): void {
  show(toasts.filter((one) => one.id !== id));
}

function show(next: readonly Numbered[]): void {
  toasts = next;
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
