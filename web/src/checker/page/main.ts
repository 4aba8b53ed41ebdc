/** The page of the checker: takes a record, shows how far the check is, and what it found. */
import "./checker.css";
import type { Answer, Request, Source } from "./messages";
import { clear, find, showProgress, showReport, showTrouble } from "./view";
import CheckWorker from "./worker?worker&inline";

const SHARED = /^#record=(\/api\/shared\/[\w-]+\/record)$/;
const FINGERPRINT = /^[0-9a-f]{16,64}$/;

let worker: Worker | null = null;
/** The record that the worker has checked to its end. */
let checked: Source | null = null;
let dropped: File | null = null;

const form = find("form", HTMLFormElement);
const record = find("record", HTMLInputElement);
const earlier = find("earlier", HTMLInputElement);
const certificates = find("certificates", HTMLInputElement);
const key = find("key", HTMLInputElement);
const server = find("server", HTMLInputElement);
const drop = find("drop", HTMLElement);
let linked = linkedRecord();

/** The address in the fragment, which no server sees. Only one of the server that sent this page. */
function linkedRecord(): Source | null {
  const found = SHARED.exec(location.hash)?.[1];
  if (found === undefined || !location.protocol.startsWith("http")) return null;
  return { url: new URL(found, location.origin).href };
}

function chosen(): Source | null {
  const file = dropped ?? record.files?.[0];
  return file ? { file } : linked;
}

function start(): void {
  const source = chosen();
  if (source === null) {
    showTrouble("Choose the file of a record first.");
    return;
  }
  const keys = namedKeys();
  if (keys === null) {
    showTrouble(
      "The fingerprint of a key has 64 digits from 0 to f, of which the first 16 are enough.",
    );
    return;
  }
  const known = { keys, server: server.value.trim() };
  const kept = earlier.files?.[0] ?? null;
  const trusted = [...(certificates.files ?? [])];
  const isMore = kept !== null || trusted.length > 0;
  const isSame = checked !== null && sameSource(checked, source) && !isMore;
  if (isSame && worker !== null) ask(worker, { type: "judge", ...known });
  else
    ask(
      renewed(),
      { type: "check", source, earlier: kept, certificates: trusted, ...known },
      source,
    );
}

/** A new worker: whatever the old one was doing is not wanted any more. */
function renewed(): Worker {
  worker?.terminate();
  worker = new CheckWorker();
  checked = null;
  return worker;
}

function ask(asked: Worker, request: Request, source: Source | null = checked): void {
  clear();
  asked.onmessage = ({ data }: MessageEvent<Answer>) => {
    if (asked !== worker) return;
    if (data.type === "progress") showProgress(data);
    else if (data.type === "failed") showTrouble(data.why);
    else {
      checked = source;
      showReport(data.report);
    }
  };
  asked.onerror = (event) => showTrouble(`The check could not run: ${event.message}`);
  asked.postMessage(request);
}

function sameSource(one: Source, other: Source): boolean {
  if ("file" in one) return "file" in other && one.file === other.file;
  return "url" in other && one.url === other.url;
}

/** Null if what was typed is no fingerprint. */
function namedKeys(): string[] | null {
  const plain = key.value.replace(/[\s:]/g, "").toLowerCase();
  if (!plain) return [];
  return FINGERPRINT.test(plain) ? [plain] : null;
}

function showSource(): void {
  find("linked", HTMLElement).hidden = linked === null;
  drop.hidden = linked !== null;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  start();
});
record.addEventListener("change", () => {
  dropped = null;
});
find("other", HTMLButtonElement).addEventListener("click", () => {
  linked = null;
  showSource();
  record.focus();
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  const file = event.dataTransfer?.files[0];
  if (!file) return;
  [dropped, linked] = [file, null];
  showSource();
  start();
});

showSource();
if (linked !== null) {
  server.placeholder = location.origin;
  start();
}
