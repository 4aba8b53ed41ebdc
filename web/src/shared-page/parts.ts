/** Replaces changed parts of a server-rendered page and keeps the reader's scroll positions. */

/** The HTML as the server sent it, before scripts changed it; only that shows real changes. */
export type Snapshot = Map<string, string>;

export function partsOf(page: ParentNode): Map<string, HTMLElement> {
  const found = page.querySelectorAll<HTMLElement>("[data-part]");
  return new Map([...found].map((part) => [part.dataset.part ?? "", part]));
}

export function snapshot(page: ParentNode): Snapshot {
  return new Map([...partsOf(page)].map(([name, part]) => [name, part.outerHTML]));
}

/** Replaces the parts that changed and returns them. */
export function exchange(page: ParentNode, next: ParentNode, before: Snapshot): HTMLElement[] {
  const [here, there] = [partsOf(page), partsOf(next)];
  const changed: HTMLElement[] = [];
  let previous: HTMLElement | null = null;
  for (const [name, part] of there) {
    const old = here.get(name);
    const html = part.outerHTML;
    if (old && before.get(name) === html) {
      previous = old;
      continue;
    }
    before.set(name, html);
    if (old) {
      keepPlace(old, part);
      old.replaceWith(part);
      restorePlace(old, part);
    } else if (previous) previous.after(part);
    else continue;
    changed.push(part);
    previous = part;
  }
  for (const [name, old] of here) {
    if (there.has(name)) continue;
    before.delete(name);
    old.remove();
  }
  return changed;
}

const SCROLLED = ".scroll, .log";

function keepPlace(old: HTMLElement, part: HTMLElement): void {
  const nameOf = (details: HTMLDetailsElement) => details.dataset.entry ?? "";
  const open = new Set([...old.querySelectorAll<HTMLDetailsElement>("details[open]")].map(nameOf));
  for (const details of part.querySelectorAll("details")) {
    if (open.has(nameOf(details))) details.open = true;
  }
}

/** Scroll positions can only be set on elements that are already in the page. */
function restorePlace(old: HTMLElement, part: HTMLElement): void {
  const [from, to] = [old.querySelectorAll(SCROLLED), part.querySelectorAll(SCROLLED)];
  to.forEach((box, place) => {
    const before = from[place];
    if (!before) return;
    box.scrollLeft = before.scrollLeft;
    box.scrollTop = before.scrollTop;
  });
}
