/**
 * The theme and the colours of gains and losses. They are kept in cookies, so that the server writes
 * them into the page and nothing flashes, not even on pages without JavaScript.
 */
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
export type Rising = "green" | "red" | "blue";

export interface Appearance {
  theme: Theme;
  rising: Rising;
}

const YEAR = 365 * 86_400;
const watchers = new Set<() => void>();
const colours = new Map<string, string>();
let look: Appearance = read();

export function useAppearance(): Appearance {
  return useSyncExternalStore(watch, () => look);
}

export function chooseTheme(theme: Theme): void {
  keep("theme", theme === "system" ? null : theme);
  look = { ...look, theme };
  tell();
}

export function chooseRising(rising: Rising): void {
  keep("rising", rising === "green" ? null : rising);
  look = { ...look, rising };
  tell();
}

/** For canvases, which cannot read a stylesheet: called whenever a colour may have changed. */
export function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** The current value of a stylesheet colour. Cached, because a chart asks for it in every frame. */
export function colour(token: string): string {
  const known = colours.get(token);
  if (known) return known;
  const probe = document.createElement("span");
  probe.style.color = `var(--${token})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  colours.set(token, found);
  return found;
}

function read(): Appearance {
  const { theme, rising } = document.documentElement.dataset;
  return {
    theme: theme === "light" || theme === "dark" ? theme : "system",
    rising: rising === "red" || rising === "blue" ? rising : "green",
  };
}

function keep(name: "theme" | "rising", word: string | null): void {
  if (word) document.documentElement.dataset[name] = word;
  else delete document.documentElement.dataset[name];
  const age = word ? YEAR : 0;
  // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser yet
  document.cookie = `tapeline_${name}=${word ?? ""}; path=/; max-age=${age}; samesite=lax`;
}

function tell(): void {
  colours.clear();
  for (const watcher of watchers) watcher();
}

if (typeof matchMedia === "function") {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
}
