/** Says in words what checking a record found: what it proves, and what it does not. */
import { LISTED } from "../changes/newest";
import { length, moment } from "../changes/time-words";
import { quoted } from "../lines/quoting";
import type { Change, Checked, Stamped, Status } from "./outcome";
import { isPartial, notShown, statusOf, verdictOf } from "./outcome";

const NOTHING_LATE = "Nothing that counts was reported late or changed after the fact.";
const ELSEWHERE =
  "tapeline verify compares each of these with the fills that it touched, lists changes of the currency too, and computes profit and loss with them and without.";

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
  return { status, verdict, sentence: sentence(found), headline: headline(found), sections };
}

function sentence(found: Checked): string {
  const what = isPartial(found)
    ? `${extent(found)} What it shows was not changed after it was signed`
    : "Nothing in this record was changed after it was signed";
  switch (verdictOf(found)) {
    case "proven":
      return `${what}, and it was signed with the key that you named.${butLate(found)}`;
    case "unknown_signer":
      return `${what}, but it is not known who signed it.${butLate(found)}`;
    case "retired_key":
      return "Do not rely on this record: it was signed with a key that had been replaced long before.";
    case "unsigned":
      return "This record proves nothing: nobody signed it.";
    case "unsigned_tail":
      return "Do not rely on this record: nobody signed its end, so it is incomplete, or somebody added to it.";
    default:
      return "Do not trust this record: it is not what the server signed, or it is not complete.";
  }
}

/** What was signed can have been rewritten before: by later reports, which were signed too. */
function butLate(found: Checked): string {
  const many = found.afterwards.count;
  if (!many) return "";
  const came = many === 1 ? "1 report came" : `${count(many)} reports came`;
  return ` But ${came} after the fact, or for the future: see below.`;
}

function headline(found: Checked): string {
  switch (verdictOf(found)) {
    case "proven":
      if (isPartial(found)) {
        return `PROVEN, AS FAR AS IT IS SHOWN: what this file shows was signed with the key that you named (${found.fingerprint}). It does not show everything.`;
      }
      return `PROVEN: whole, and signed with the key that you named (${found.fingerprint}).`;
    case "unknown_signer":
      return `CONSISTENT, BUT THE SIGNER IS UNKNOWN: anyone can sign a record with a key of their own. This one was signed with ${found.fingerprint}. If that is the key of the server, name this key, or the server’s address, and check again.`;
    case "retired_key":
      return `SIGNED WITH A REPLACED KEY: ${found.fingerprint} signed this record more than an hour after it had been replaced. It may have been stolen.`;
    case "unsigned":
      return "NOT SIGNED: nothing in this file is signed by a key in it, so it proves nothing.";
    case "unsigned_tail":
      return `NOT SIGNED TO ITS END: ${tail(found)} Anyone could have added them. The file is not complete, or it is not what the server wrote.`;
    default:
      return `BROKEN at event ${found.brokenAt}: ${found.reason}`;
  }
}

/** How much of it is not there to be read. */
function extent(found: Checked): string {
  const hidden = count(notShown(found));
  return `This record does not show everything: ${hidden} of its events are hidden or removed, and ${count(found.partly)} are shown in part.`;
}

function tail(found: Checked): string {
  const { unsignedFrom: first, unsignedUntil: last } = found;
  const times =
    first === null || last === null ? "" : `, from ${moment(first)} to ${moment(last)},`;
  if (found.unsigned === 1) return `the last event${times} is not signed.`;
  return `the last ${count(found.unsigned)} events${times} are not signed.`;
}

function allSections(found: Checked): Section[] {
  const sections = [
    { title: "What was checked", lines: contents(found) },
    { title: "What this proves, if the key is the server’s", lines: proven(found) },
    { title: "When: what others confirm", lines: confirmed(found) },
    { title: "What it does not prove", lines: notProven(found) },
    { title: "Reported late, or said again after the fact", lines: afterwards(found) },
    { title: "Removed by retention", lines: removed(found) },
    {
      title: "Settings of the account: the newest decide how its whole history is read",
      lines: found.changes.slice(-20).map(changed),
    },
  ];
  return sections.filter((one) => one.lines.length);
}

function contents(found: Checked): string[] {
  return [
    `The file has ${count(found.events)} events of model ${quoted(found.modelId)}, ${count(found.hidden)} of them hidden and ${count(found.partly)} shown in part.`,
    "The chain: every event, link by link, was hashed again here and leads to the signed links.",
    `Signatures: ${count(found.signatures)} checked.`,
    ...(found.lists ? [`Long lists of backtests: ${count(found.lists)} match their digests.`] : []),
    ...(found.listsMissing
      ? [
          `${count(found.listsMissing)} long lists of backtests are not in this file: the result was replaced or deleted${found.isFileSigned ? "" : ", or somebody left them out"}.`,
        ]
      : []),
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
    lines.push(`Nothing about its end: ${tail(found)}`);
  }
  if (found.isFileSigned) {
    lines.push(
      "The file is as the server wrote it: nothing in it was hidden or left out afterwards.",
    );
  }
  if (isPartial(found)) {
    lines.push("Of what is hidden or removed, the file has digests: it is there, unread.");
  }
  if (found.setBack) {
    lines.push(
      `The server’s clock was set back: ${count(found.setBack)} events have times of up to ${length(found.setBackBy)} before those of earlier ones.`,
    );
  }
  if (found.newLogs.length) {
    lines.push(
      `The server began a new log before event ${found.newLogs.slice(-LISTED).map(count).join(", ")}: it was restored from a backup, or copied. What it had signed after that backup and lost is not in this file. A record from before, or a witness, shows whether that was about this model.`,
    );
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
      `Somebody with the key ${one.fingerprint} signed the log up to event ${count(one.seq)}, at ${moment(one.at)} by their own clock. The file calls them ${quoted(one.name)}, which proves nothing: it is a witness if you know that key.`,
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
    `The longest time from a shown event to a stamp over it is ${length(found.stampGap ?? 0)}. Within that time the server could still have changed it.`,
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
  return [...new Set(stamps.map((one) => one.authority))].sort().map(quoted).join(", ");
}

/** The first and the last of many. */
function ends<Item>(items: Item[]): Item[] {
  return items.length > 2 ? [...items.slice(0, 1), ...items.slice(-1)] : items;
}

function notProven(found: Checked): string[] {
  const figures = isPartial(found)
    ? [
        `Profit and loss: they cannot be computed from this file. ${extent(found)} They may be orders, and they may have been late or changed after the fact.`,
      ]
    : [];
  return [
    ...figures,
    "That fills were real: the tape has what the model reported.",
    "That there are no other models or accounts that did worse.",
    "What hidden events say, and whether they are orders or anything else that counts.",
    "That the operator of the server, who has its key, did not sign another tape. Keep the file, and check a later one against it.",
  ];
}

function removed(found: Checked): string[] {
  if (!found.removed.size) return [];
  const kinds = [...found.removed].sort().map(([kind, many]) => `${count(many)} (${quoted(kind)})`);
  return [
    `Received until ${moment(found.removedUntil)}: ${kinds.join(", ")}.`,
    `Their digests are still part of the chain. Of which kind they were is what the ${found.isFileSigned ? "server" : "file"} says; their content cannot be checked any more.`,
  ];
}

/** Of what is shown, newest first. */
function afterwards(found: Checked): string[] {
  const { items, count: many } = found.afterwards;
  if (!many) return isPartial(found) ? [] : [NOTHING_LATE, ELSEWHERE];
  const listed = items.slice(-LISTED).reverse();
  return [
    ...listed.map(
      (one) => `Event ${count(one.seq)}, ${moment(one.receivedAt)}: ${one.about}: ${one.said}.`,
    ),
    ...(many > listed.length ? [`And ${count(many - listed.length)} more.`] : []),
    ELSEWHERE,
  ];
}

function changed(one: Change): string {
  const fields = Object.entries(one.fields).sort(([a], [b]) => (a < b ? -1 : 1));
  const said =
    fields.map(([name, value]) => `${quoted(name)} ${asText(value)}`).join(", ") || "hidden";
  return `Event ${one.seq}, ${moment(one.receivedAt)}: ${said}`;
}

function asText(value: unknown): string {
  return quoted(typeof value === "string" ? value : JSON.stringify(value));
}

function count(number: number): string {
  return number.toLocaleString("en");
}
