/** Which notifications a person wants in this browser. Kept here alone; signing out removes it. */
import { useSyncExternalStore } from "react";
import type { Topic } from "./news";

export type Choices = Record<Topic, boolean>;

const NAME = "tapeline.notifications";
const NONE: Choices = { trouble: false, orders: false, server: false };
/** What somebody who turns notifications on gets at first. */
export const USUAL: Choices = { trouble: true, orders: false, server: true };
const watchers = new Set<() => void>();
let known: { account: string; choices: Choices } | null = null;

export function useChoices(account: string): Choices {
  return useSyncExternalStore(watch, () => chosen(account));
}

export function choose(account: string, choices: Choices): void {
  known = { account, choices };
  try {
    localStorage.setItem(NAME, JSON.stringify(known));
  } catch {
    // Without storage, the choice holds until the page is closed.
  }
  for (const watcher of watchers) watcher();
}

export function isOn(choices: Choices): boolean {
  return Object.values(choices).some(Boolean);
}

export function chosen(account: string): Choices {
  known ??= stored();
  // Another account in the same browser chooses for itself.
  return known?.account === account ? known.choices : NONE;
}

function stored(): typeof known {
  try {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? "null") as typeof known;
    return kept && { account: kept.account, choices: { ...NONE, ...kept.choices } };
  } catch {
    return null;
  }
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
