/** Says in words what checking a record found: what it proves, and what it does not. */
import type { Change, Checked, Late, Stamped, Status } from "./outcome";
import { statusOf, verdictOf } from "./outcome";

const NOUNS = new Map([
  ["mark-price", "price"],
  ["cash", "cash entry"],
  ["position", "position"],
]);
const SIZES = [
  [86_400, "days"],
  [3_600, "hours"],
  [60, "minutes"],
] as const;

const CHANGES =
  "Changes of orders after the fact, from what to what. The list on a shared page is the server’s own; tapeline verify computes it from the file.";

export interface Section {
  title: string;
  lines: string[];
}

/** All that a page shows of a check. */
export interface Report {
  status: Status;
  verdict: string;
  /** For a layman. */
  sentence: string;
  /** The same as `tapeline verify` says. */
  headline: string;
  sections: Section[];
}

export function report(found: Checked): Report {
  const status = statusOf(found);
  const verdict = verdictOf(found);
  const sections = status === 1 ? [] : allSections(found);
  return { status, verdict, sentence: sentence(verdict), headline: headline(found), sections };
}

function sentence(verdict: string): string {
  switch (verdict) {
    case "proven":
      return "Nothing in this record was changed after it was signed, and it was signed with the key that you named.";
    case "unknown_signer":
      return "Nothing in this record was changed after it was signed, but it is not known who signed it.";
    case "retired_key":
      return "Do not rely on this record: it was signed with a key that had been replaced long before.";
    case "unsigned":
      return "This record proves nothing: nobody signed it.";
    case "unsigned_tail":
      return "Do not rely on the end of this record: nobody signed it.";
    default:
      return "Do not trust this record: it is not what the server signed, or it is not complete.";
  }
}

function headline(found: Checked): string {
  switch (verdictOf(found)) {
    case "proven":
      return `PROVEN: whole, and signed with the key that you named (${found.fingerprint}).`;
    case "unknown_signer":
      return `CONSISTENT, BUT THE SIGNER IS UNKNOWN: anyone can sign a record with a key of their own. This one was signed with ${found.fingerprint}. If that is the key of the server, name this key, or the server’s address, and check again.`;
    case "retired_key":
      return `SIGNED WITH A REPLACED KEY: ${found.fingerprint} signed this record more than an hour after it had been replaced. It may have been stolen.`;
    case "unsigned":
      return "NOT SIGNED: nothing in this file is signed by a key in it, so it proves nothing.";
    case "unsigned_tail":
      return `NOT SIGNED TO ITS END: the last ${count(found.unsigned)} events came more than an hour after the last signature, or do not say when. Anyone could have added them.`;
    default:
      return `BROKEN at event ${found.brokenAt}: ${found.reason}`;
  }
}

function allSections(found: Checked): Section[] {
  const sections = [
    { title: "What was checked", lines: contents(found) },
    { title: "What this proves, if the key is the server’s", lines: proven(found) },
    { title: "When: what others confirm", lines: confirmed(found) },
    { title: "What it does not prove", lines: notProven() },
    { title: "What this page does not list", lines: [CHANGES] },
    { title: "Removed by retention", lines: removed(found) },
    { title: "Reported late, long after their own time", lines: late(found) },
    { title: "Cash that replaced other cash", lines: replaced(found) },
    {
      title: "Settings of the account: the newest decide how its whole history is read",
      lines: found.changes.slice(-20).map(changed),
    },
  ];
  return sections.filter((one) => one.lines.length);
}

function contents(found: Checked): string[] {
  return [
    `The file has ${count(found.events)} events of model ${found.modelId}, ${count(found.hidden)} of them hidden and ${count(found.partly)} shown in part.`,
    "The chain: every event, link by link, was hashed again here and leads to the signed links.",
    `Signatures: ${count(found.signatures)} checked.`,
    ...(found.lists ? [`Long lists of backtests: ${count(found.lists)} match their digests.`] : []),
  ];
}

function proven(found: Checked): string[] {
  const { first, last } = found;
  if (first === null || last === null) return [];
  const lines = [
    `Events 1 to ${count(last.seq)} are the ones the server signed at ${moment(last.at)}: none was edited, removed or inserted after that.`,
    `Those up to event ${count(first.seq)} have stood like this since ${moment(first.at)}.`,
  ];
  if (found.unsigned) {
    lines.push(`The last ${count(found.unsigned)} events are chained but not signed yet.`);
  }
  if (found.uncounted) {
    lines.push(
      `${count(found.uncounted)} signatures are by keys that this file does not contain, so they could not be checked. They count for nothing.`,
    );
  }
  return lines;
}

/** What outside authorities and witnesses confirm. Missing stamps make no record worse. */
function confirmed(found: Checked): string[] {
  const seen = ends(found.cosigned).map(
    (one) =>
      `The witness ${one.name} saw the log up to event ${count(one.seq)} at ${moment(one.at)}.`,
  );
  const stamps = found.stamps.length
    ? [...stamped(found), ...notStamped(found)]
    : ["No outside authority has stamped it: all times are the server’s own."];
  const none = found.proofs && !seen.length ? ["No witness confirms it."] : [];
  return [...stamps, ...seen, ...none];
}

function stamped(found: Checked): string[] {
  const trusted = found.stamps.filter((one) => one.isTrusted);
  const [first, last] = [trusted[0], trusted.at(-1)];
  if (first === undefined || last === undefined) return [];
  const lines = [
    `Time stamps by ${names(trusted)}: events 1 to ${count(first.seq)} existed at ${moment(first.at)}, those up to event ${count(last.seq)} at ${moment(last.at)}.`,
    `The longest time from an event to a stamp over it is ${length(found.stampGap ?? 0)}. Within that time the server could still have changed it.`,
  ];
  if (found.unstamped) lines.push(`The last ${count(found.unstamped)} events are not stamped yet.`);
  return lines;
}

function notStamped(found: Checked): string[] {
  const strangers = found.stamps.filter((one) => one.isChecked && !one.isTrusted);
  const unchecked = found.stamps.filter((one) => !one.isChecked);
  return [
    ...(strangers.length
      ? [
          `Stamps by ${names(strangers)} do not count: their certificates do not lead to one that is trusted here. Choose theirs below “Certificates of time-stamp authorities”.`,
        ]
      : []),
    ...(unchecked.length ? [`Stamps by ${names(unchecked)} are present, not checked here.`] : []),
  ];
}

function names(stamps: Stamped[]): string {
  return [...new Set(stamps.map((one) => one.authority))].sort().join(", ");
}

/** The first and the last of many. */
function ends<Item>(items: Item[]): Item[] {
  return items.length > 2 ? [...items.slice(0, 1), ...items.slice(-1)] : items;
}

function notProven(): string[] {
  return [
    "That fills were real: the tape has what the model reported.",
    "That there are no other models or accounts that did worse.",
    "That hidden events say anything in particular.",
    "That the operator of the server, who has its key, did not sign another tape. Keep the file, and check a later one against it.",
  ];
}

function removed(found: Checked): string[] {
  if (!found.removed.size) return [];
  const kinds = [...found.removed].sort().map(([kind, many]) => `${count(many)} (${kind})`);
  return [
    `Received until ${moment(found.removedUntil)}: ${kinds.join(", ")}.`,
    "Their digests are still part of the chain. The server says of which kind they were; their content cannot be checked any more.",
  ];
}

function late(found: Checked): string[] {
  if (!found.late.count) return [];
  const more = found.late.count - found.late.items.length;
  return [
    `${counted(found.lateKinds)}.`,
    ...found.late.items.map((one) => `Event ${one.seq}, ${noun(one)}: ${length(one.seconds)} late`),
    ...(more ? [`And ${count(more)} more.`] : []),
  ];
}

function counted(kinds: Map<string, number>): string {
  const counts = new Map<string, number>();
  for (const [kind, many] of kinds) {
    const word = noun({ kind });
    counts.set(word, (counts.get(word) ?? 0) + many);
  }
  return [...counts].map(([word, many]) => `${count(many)} ${plural(word, many)}`).join(", ");
}

function plural(word: string, many: number): string {
  if (many === 1) return word;
  return word === "cash entry" ? "cash entries" : `${word}s`;
}

function replaced(found: Checked): string[] {
  if (!found.replaced.count) return [];
  const first = found.replaced.items.map(count).join(", ");
  return [`${count(found.replaced.count)} (event ${first}).`];
}

function changed(one: Change): string {
  const fields = Object.entries(one.fields).sort(([a], [b]) => (a < b ? -1 : 1));
  const said = fields.map(([name, value]) => `${name} ${asText(value)}`).join(", ") || "hidden";
  return `Event ${one.seq}, ${moment(one.receivedAt)}: ${said}`;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function noun(one: Pick<Late, "kind">): string {
  return NOUNS.get(one.kind) ?? "order";
}

function count(number: number): string {
  return number.toLocaleString("en");
}

export function moment(at: number): string {
  const date = new Date(at * 1000);
  if (Number.isNaN(date.getTime())) return String(at);
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function length(seconds: number): string {
  for (const [size, unit] of SIZES) {
    if (seconds >= size) return `${(seconds / size).toFixed(1)} ${unit}`;
  }
  return `${Math.round(seconds)} seconds`;
}
