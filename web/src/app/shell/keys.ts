/** The keys that work on every page: single ones, and pairs that begin with G, for "go to". */

/** How long the second key of a pair may take, in milliseconds. */
export const PATIENCE = 1_500;
export const SEARCH = "/";
export const HELP = "?";
export const GO = "g";

/** The second key of a pair, and the entry of the palette that it runs. */
const GOES: readonly [string, string, string][] = [
  ["m", "home", "Models"],
  ["p", "portfolio", "Portfolio of the project"],
  ["a", "own-portfolio", "Portfolio of all projects"],
  ["d", "deploy", "Deploy a model"],
  ["k", "keys", "Keys"],
  ["w", "watching", "Watching"],
  ["i", "incidents", "Incidents"],
  ["s", "project-settings", "Project settings"],
  ["h", "health", "Health of the server"],
];

export interface Press {
  key: string;
  /** Whether another key was held down: such a combination belongs to the browser. */
  held: boolean;
  /** Whether somebody writes into a field. */
  writing: boolean;
  at: number;
}

export type Meaning =
  | { is: "search" | "help" | "begin" | "nothing" }
  /** An entry of the palette, by its id. */
  | { is: "run"; id: string };

const NOTHING: Meaning = { is: "nothing" };

interface Entry {
  id: string;
  label: string;
}

/** The entries of the palette for the tabs of a model, in their order: a number is the place of a tab. */
export function tabsOf<T extends Entry>(choices: readonly T[]): T[] {
  return choices.filter(({ id }) => id.startsWith("page-"));
}

/** What a press means, after a G at a moment, or without one. `tabs` are those of a model. */
export function meaning(press: Press, goneAt: number | null, tabs: readonly Entry[]): Meaning {
  if (press.held || press.writing) return NOTHING;
  const key = press.key.toLowerCase();
  if (goneAt !== null && press.at - goneAt < PATIENCE) {
    const found = GOES.find(([letter]) => letter === key);
    return found ? { is: "run", id: found[1] } : NOTHING;
  }
  if (press.key === SEARCH) return { is: "search" };
  if (press.key === HELP) return { is: "help" };
  if (key === GO) return { is: "begin" };
  const tab = tabs[Number(press.key) - 1];
  return tab === undefined ? NOTHING : { is: "run", id: tab.id };
}

export interface Row {
  keys: readonly string[];
  does: string;
}

/** All of them, for people, with those of charts and lists. */
export function rows(has: (id: string) => boolean, tabs: readonly Entry[]): Row[] {
  return [
    { keys: ["Ctrl", "K"], does: "Search, also with Cmd" },
    { keys: [SEARCH], does: "Search" },
    { keys: [HELP], does: "Show these keys" },
    ...GOES.filter(([, id]) => has(id)).map(([key, , does]) => ({ keys: ["G", key], does })),
    ...tabs.slice(0, 9).map(({ label }, place) => ({ keys: [String(place + 1)], does: label })),
    { keys: ["←", "→"], does: "Move a chart that has the focus" },
    { keys: ["+", "−", "0"], does: "Zoom such a chart, and show all of it" },
    { keys: ["Esc"], does: "Close a dialog" },
  ];
}
