// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { exchange, partsOf, snapshot } from "./parts";

function page(html: string): Document {
  return new DOMParser().parseFromString(`<main>${html}</main>`, "text/html");
}

const OLD =
  '<p data-part="a">1</p><section data-part="b"><details><summary>S</summary>x</details></section>';

describe("a page that is kept live", () => {
  beforeEach(() => {
    document.body.innerHTML = `<main>${OLD}</main>`;
  });

  it("exchanges what changed and nothing else", () => {
    const before = snapshot(document);
    const kept = partsOf(document).get("b");
    const changed = exchange(
      document,
      page(OLD.replace('data-part="a">1', 'data-part="a">2')),
      before,
    );
    expect(changed.map((part) => part.dataset.part)).toEqual(["a"]);
    expect(document.querySelector("[data-part=a]")).toHaveTextContent("2");
    expect(partsOf(document).get("b")).toBe(kept);
  });

  it("is not fooled by what a script changed meanwhile", () => {
    const before = snapshot(document);
    const first = document.querySelector("[data-part=a]");
    if (first) first.textContent = "local time";
    expect(exchange(document, page(OLD), before)).toEqual([]);
    expect(first).toHaveTextContent("local time");
  });

  it("keeps open what was opened", () => {
    const before = snapshot(document);
    const details = document.querySelector("details");
    if (details) details.open = true;
    exchange(document, page(OLD.replace("x<", "y<")), before);
    expect(document.querySelector("details")).toHaveTextContent("y");
    expect(document.querySelector("details")?.open).toBe(true);
  });

  it("keeps open the lines that were opened, and no others", () => {
    const log = (text: string) =>
      [1, 2].map((seq) => `<details data-entry="${seq}">${text}</details>`).join("");
    document.body.innerHTML = `<main><div data-part="log">${log("old")}</div></main>`;
    const before = snapshot(document);
    const second = document.querySelectorAll("details")[1];
    if (second) second.open = true;
    exchange(document, page(`<div data-part="log">${log("new")}</div>`), before);
    expect([...document.querySelectorAll("details")].map(({ open }) => open)).toEqual([
      false,
      true,
    ]);
  });

  it("takes over parts that are new and leaves out those that are gone", () => {
    const before = snapshot(document);
    exchange(document, page('<p data-part="a">1</p><p data-part="c">3</p>'), before);
    expect([...partsOf(document).keys()]).toEqual(["a", "c"]);
  });
});
