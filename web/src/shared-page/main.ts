/**
 * Enhances the page of a shared link: the reader's own time on hover, the value under the
 * pointer, and live updates. All times and axes are in UTC, as the server writes them. The page works without JavaScript too.
 */
import { stamp } from "~/format/times";
import { setZone, zoneLabel } from "~/format/zone";
import { Refresher } from "~/live/refresh";
import { type Connection, Stream } from "~/live/stream";
import { exchange, partsOf, snapshot } from "./parts";
import { type Frame, frameOf, numbersIn, readingAt, type Series } from "./reading";

const KINDS = ["order", "update", "price", "lifecycle", "log"];
/** The least milliseconds between two refreshes. */
const PAUSE = 2_000;
const SVG = "http://www.w3.org/2000/svg";
const WORDS: Record<Connection, string> = {
  connecting: "",
  live: "Live",
  behind: "Reconnecting…",
  ended: "No longer live",
};

setZone("utc");
let state: Connection = "connecting";
const { token, kind } = document.body.dataset;
const before = snapshot(document);
for (const part of partsOf(document).values()) improve(part);
if (token && kind === "live") follow(token);

function follow(link: string): void {
  const stream = new Stream(`/api/shared/${encodeURIComponent(link)}/stream`, KINDS);
  const refresher = new Refresher(() => void look(), PAUSE);
  let isFirst = true;
  stream.listen(() => refresher.ask("page"));
  stream.whenMissed(() => {
    // The page is fresh on the first connection; later, events may have been missed.
    if (!isFirst) refresher.ask("page");
    isFirst = false;
  });
  stream.whenLost(() => refresher.ask("page"));
  stream.watch(() => pulse(stream.state));
  stream.start();
}

async function look(): Promise<void> {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer) return;
  // The link was revoked, has expired or got a password: show the server's page.
  if (answer.status === 404 || answer.status === 401) {
    location.reload();
    return;
  }
  if (!answer.ok) return;
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!next.body.dataset.token) {
    location.reload();
    return;
  }
  for (const part of exchange(document, next, before)) improve(part);
  pulse(state);
}

function pulse(now: Connection): void {
  state = now;
  const place = document.querySelector<HTMLElement>(".pulse");
  if (!place) return;
  place.hidden = WORDS[now] === "";
  place.textContent = WORDS[now];
  place.classList.toggle("live", now === "live");
}

function improve(part: HTMLElement): void {
  for (const time of part.querySelectorAll("time")) localise(time);
  for (const plot of part.querySelectorAll<HTMLElement>("[data-chart]")) point(plot);
  const log = part.querySelector(".log");
  if (log && part.dataset.part === "log" && !log.scrollTop) log.scrollTop = log.scrollHeight;
}

function localise(time: HTMLTimeElement): void {
  const moment = Date.parse(time.dateTime) / 1000;
  if (Number.isNaN(moment)) return;
  setZone("local");
  time.title = `${stamp(moment)} ${zoneLabel()}`;
  setZone("utc");
  if (time.closest(".log")) time.textContent = stamp(moment);
}

function point(plot: HTMLElement): void {
  const series: Series = {
    times: numbersIn(plot.dataset.times),
    values: numbersIn(plot.dataset.values),
    unit: plot.dataset.unit ?? "",
    currency: plot.dataset.currency ?? "",
    isDrawdown: plot.dataset.chart === "drawdown",
  };
  const reading = document.createElement("div");
  reading.className = "reading";
  reading.hidden = true;
  plot.append(reading);
  for (const svg of plot.querySelectorAll<SVGSVGElement>("svg[data-frame]")) {
    const frame = frameOf(svg.dataset.frame);
    if (frame) attach(svg, frame, series, reading);
  }
}

function attach(svg: SVGSVGElement, frame: Frame, series: Series, reading: HTMLElement): void {
  const cross = document.createElementNS(SVG, "line");
  const dot = document.createElementNS(SVG, "circle");
  cross.setAttribute("class", "cross");
  dot.setAttribute("class", "dot");
  dot.setAttribute("r", "4");
  const away = () => {
    cross.remove();
    dot.remove();
    reading.hidden = true;
  };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    const found = readingAt(x, frame, series);
    if (!found) return;
    set(cross, { x1: found.x, x2: found.x, y1: frame.top, y2: frame.foot });
    set(dot, { cx: found.x, cy: found.y });
    if (!cross.isConnected) svg.append(cross, dot);
    const value = document.createElement("strong");
    value.textContent = found.text;
    reading.replaceChildren(`${stamp(found.time)} UTC`, value);
    reading.hidden = false;
  });
  svg.addEventListener("pointerleave", away);
  svg.addEventListener("pointercancel", away);
}

function set(element: Element, values: Record<string, number>): void {
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, value.toFixed(1));
}
