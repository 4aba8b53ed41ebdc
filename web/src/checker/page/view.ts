/** Shows progress and results. Text only: nothing from a record becomes part of the page's markup. */
import type { Report } from "../record/words";
import type { Progress } from "./messages";

const MOODS = new Map([
  [0, "good"],
  [1, "bad"],
  [3, "unsure"],
  [4, "unsure"],
]);

export function find<Kind extends HTMLElement>(id: string, kind: { new (): Kind }): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page has no ${id}.`);
  return found;
}

export function clear(): void {
  find("outcome", HTMLElement).hidden = false;
  find("progress", HTMLProgressElement).hidden = false;
  find("progress", HTMLProgressElement).removeAttribute("value");
  say("reached", "Reading …");
  say("sentence", "");
  say("headline", "");
  find("verdict", HTMLElement).className = "";
  find("sections", HTMLElement).replaceChildren();
}

export function showProgress({ bytes, share }: Progress): void {
  find("progress", HTMLProgressElement).value = share;
  const percent = Math.floor(share * 100);
  say("reached", `${(bytes / 1e6).toFixed(1)} MB checked, ${percent} %`);
}

export function showReport(report: Report): void {
  finish(MOODS.get(report.status) ?? "bad", report.sentence, report.headline);
  find("verdict", HTMLElement).dataset.status = String(report.status);
  find("sections", HTMLElement).replaceChildren(
    ...report.sections.flatMap((one) => {
      const list = element("ul");
      list.append(...one.lines.map((line) => element("li", line)));
      return [element("h3", one.title), list];
    }),
  );
}

/** It says nothing about the record. */
export function showTrouble(why: string): void {
  find("outcome", HTMLElement).hidden = false;
  delete find("verdict", HTMLElement).dataset.status;
  find("sections", HTMLElement).replaceChildren();
  finish("unsure", "The record was not checked.", why);
}

function finish(mood: string, sentence: string, headline: string): void {
  find("progress", HTMLProgressElement).hidden = true;
  say("reached", "");
  find("verdict", HTMLElement).className = mood;
  say("sentence", sentence);
  say("headline", headline);
}

function say(id: string, text: string): void {
  find(id, HTMLElement).textContent = text;
}

function element(name: string, text = ""): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
