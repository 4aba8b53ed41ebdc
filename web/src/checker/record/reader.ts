/**
 * Checks a record from its first line to its last: the chain, the signatures, the lists of results,
 * the proofs from outside. It asks no server for anything.
 */
import { hex, utf8 } from "../bytes/bytes";
import type { RunningHash, Sha256 } from "../bytes/sha256";
import { Afterwards } from "../changes/afterwards";
import {
  type Checkpoint,
  type Event,
  type FileSignature,
  type Head,
  type Hidden,
  type Key,
  type Line,
  type Link,
  type Proof,
  readHead,
  readLine,
  refuse,
} from "../lines/lines";
import { inStatement } from "../lines/numbers";
import { Scanner, textOf } from "../lines/scanner";
import type { Certificate } from "../proof/certificates";
import { Arrivals } from "./arrivals";
import { BLIND_RULE, GENESIS, Group, OLDEST_RULE } from "./groups";
import { ResultLists } from "./lists";
import { Broken, type Checked, nothingYet } from "./outcome";
import { Proofs } from "./proofs";
import { Signers } from "./signers";

export interface Asked {
  /** Fingerprints, beginnings of them, or public keys. */
  known: string[];
  /** Keys of a server; they also say which one was replaced, though a file may keep silent. */
  published: Key[];
  /** The result of an earlier record of the same tape, which this one must contain. */
  earlier: Checked | null;
  /** Certificates of time-stamp authorities, or of those behind them. */
  trusted: Certificate[];
}

export class Reader {
  readonly found = nothingYet();
  private readonly scanner = new Scanner();
  private readonly group: Group;
  private readonly lists: ResultLists;
  private readonly arrivals = new Arrivals(this.found);
  private readonly afterwards = new Afterwards(this.found.afterwards);
  private head: Head | null = null;
  private signers: Signers | null = null;
  private proofs: Proofs | null = null;
  private lines = 0;
  private next = 1;
  private claimed = 0;
  private previous: Uint8Array = GENESIS;
  private awaited: Checked | null;
  /** When the first event after the last trusted stamp arrived. */
  private waiting: number | null = null;
  /** The last event that a trusted stamp confirms. */
  private stamped = 0;

  constructor(
    private readonly sha256: Sha256,
    /** Of all lines so far, if the last one has to sign them. */
    private readonly whole: RunningHash,
    private readonly asked: Asked,
  ) {
    this.group = new Group(sha256);
    this.lists = new ResultLists(sha256);
    this.awaited = asked.earlier?.events ? asked.earlier : null;
  }

  /** Takes a line with its newline. False if the record is broken: no other line is needed. */
  take(line: Uint8Array): boolean {
    this.lines++;
    return this.guarded(() => this.read(line));
  }

  /** After the last line. */
  end(): Checked {
    if (this.found.reason === null) this.guarded(() => this.finish());
    return this.found;
  }

  /** Judges the signer anew, when a reader names a key after all else was checked. */
  judge(known: string[], published: Key[]): void {
    const all = [...known, ...published.map((key) => key.publicKey)];
    this.signers?.judge(this.found, all, published);
  }

  /** How far it is, from 0 to 1, as the first line promises. */
  get share(): number {
    return this.claimed ? Math.min(1, (this.next - 1) / this.claimed) : 0;
  }

  private guarded(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      const broken = error instanceof Broken ? error : this.unreadable(error);
      this.found.brokenAt = broken.seq;
      this.found.code = broken.code;
      this.found.reason = broken.reason;
      return false;
    }
  }

  /** Whatever else fails while a line is read, fails because of the line. */
  private unreadable(error: unknown): Broken {
    if (error instanceof RangeError && /memory|allocation/i.test(error.message)) throw error;
    const why = `Line ${this.lines} is not a line of a record.`;
    return new Broken(this.next, "not_canonical", why);
  }

  private read(line: Uint8Array): void {
    if (this.signers === null) {
      this.signers = this.begin(line);
      this.whole.update(line);
      return;
    }
    if (this.found.isFileSigned) refuse(); // nothing comes after it
    this.takeLine(readLine(this.scanner, line), this.signers);
    if (this.head?.version === 3 && !this.found.isFileSigned) this.whole.update(line);
  }

  private takeLine(found: Line, signers: Signers): void {
    if (found.type === "event") this.takeEvent(found);
    else if (found.type === "link") this.close(found);
    else if (found.type === "hidden") this.takeHidden(found);
    else if (found.type === "checkpoint") this.takeCheckpoint(found, signers);
    else if (found.type === "proof") this.takeProof(found);
    else if (found.type === "file") this.takeFile(found, signers);
    else this.lists.take(found);
  }

  private finish(): void {
    const { found, next } = this;
    if (this.signers === null) throw new Broken(1, "empty", "The file is empty.");
    this.requireEnd();
    if (this.head?.version === 3 && !found.isFileSigned) {
      const why = "Its last line, the signature over the whole file, is missing.";
      throw new Broken(next, "file_not_signed", why);
    }
    if (this.awaited !== null) {
      const why = `The earlier record goes to event ${this.awaited.events}; this one does not.`;
      throw new Broken(next, "earlier_not_reached", why);
    }
    [found.lists, found.listsMissing] = this.lists.complete();
    this.judge(this.asked.known, this.asked.published);
    found.unstamped = found.events - this.stamped;
    found.unsigned = found.events - (found.last?.seq ?? 0);
  }

  private requireEnd(): void {
    const { next, claimed } = this;
    if (this.group.isEmpty && next - 1 === claimed) return;
    const why = `It should end with event ${claimed}, but its last is event ${next - 1}.`;
    throw new Broken(next, "ends_early", why);
  }

  private begin(line: Uint8Array): Signers {
    const head = readHead(this.scanner, line);
    if (head === null || head.modelId === "") {
      const why = "This is not a record of Tapeline that this version can check.";
      throw new Broken(1, "not_a_record", why);
    }
    this.head = head;
    this.claimed = head.seq;
    this.found.modelId = head.modelId;
    if (this.asked.earlier !== null && this.asked.earlier.modelId !== head.modelId) {
      throw new Broken(1, "other_model", "The two records are of different models.");
    }
    this.proofs = new Proofs(this.sha256, head, this.asked.trusted, this.asked.earlier);
    return new Signers(this.sha256, head);
  }

  private takeEvent(event: Event): void {
    this.requireNext(event.seq);
    this.group.add(event);
    if (event.hidden.length) {
      this.requireMayHide(event.seq);
      this.found.partly++;
    }
    this.arrivals.take(event, shown);
    this.afterwards.take(event);
    this.waiting ??= event.receivedAt;
    if (event.kind === "backtest-result") {
      this.lists.expect(event.seq, event.body ?? refuse());
    }
    this.next++;
  }

  private takeHidden(line: Hidden): void {
    this.requireNext(line.seq);
    const size = line.until - line.seq + 1;
    const removed = line.removed === null ? null : [...line.removed.values()];
    const counted = removed === null ? size : removed.reduce((sum, one) => sum + one, 0);
    if (size < 1 || counted !== size) refuse();
    this.group.addHidden(line.seq, line.digest);
    if (line.removed === null) {
      this.requireMayHide(line.seq);
      this.found.hidden += size;
    } else this.arrivals.takeRemoved(line.removed, line.receivedAt ?? 0);
    this.next = line.until + 1;
  }

  private requireMayHide(seq: number): void {
    if (this.head?.shows !== "all") return;
    const why = `The first line says that all is shown, but a part of event ${seq} is hidden.`;
    throw new Broken(seq, "not_all_shown", why);
  }

  private requireNext(seq: number): void {
    if (seq === this.next) return;
    throw new Broken(this.next, "event_missing", `Event ${this.next} is missing.`);
  }

  /** At the end of a group: its link must follow from its events. */
  private close(line: Link): void {
    if (this.group.isEmpty || line.seq !== this.next - 1) {
      throw new Broken(this.next, "link_misplaced", "A link stands where no group ends.");
    }
    if (line.rule < OLDEST_RULE || line.rule > BLIND_RULE) refuse();
    const { first } = this.group;
    const link = this.group.close(this.previous, line.rule);
    if (hex(link) !== line.link) {
      const where = first === line.seq ? `event ${first}` : `events ${first} to ${line.seq}`;
      const why = `The chain breaks at ${where}: something there was changed.`;
      throw new Broken(first, "chain_broken", why);
    }
    this.previous = link;
    this.found.events = line.seq;
    this.found.link = line.link;
    if (this.awaited !== null && line.seq >= this.awaited.events) this.compare(line, this.awaited);
  }

  private compare(line: Link, earlier: Checked): void {
    if (earlier.events !== line.seq || earlier.link !== line.link) {
      const why = `Up to event ${earlier.events} it differs from the earlier record.`;
      throw new Broken(line.seq, "earlier_differs", why);
    }
    this.awaited = null;
  }

  private takeCheckpoint(one: Checkpoint, signers: Signers): void {
    this.requireHere(one);
    const { found } = this;
    const said = ["tapeline", found.modelId, one.seq, one.link, inStatement(one.at)];
    if (!signers.confirm(one, utf8(JSON.stringify(said)))) {
      found.uncounted++;
      return;
    }
    found.signatures++;
    found.last = one;
    this.arrivals.signed();
    this.afterwards.signed();
  }

  /** The last line. What is wrong with the lines before it was said there, more exactly. */
  private takeFile(one: FileSignature, signers: Signers): void {
    if (this.head?.version !== 3) refuse();
    this.requireEnd();
    if (one.sha256 !== this.whole.digest()) {
      const why =
        "The server signed another file: something in this one was hidden, left out or changed.";
      throw new Broken(this.next, "file_changed", why);
    }
    const said = ["tapeline file", this.found.modelId, one.sha256];
    signers.confirmFile(one, this.next, utf8(JSON.stringify(said)));
    this.found.isFileSigned = true;
  }

  private requireHere(one: { seq: number; link: string }): void {
    const isHere = this.group.isEmpty && one.seq === this.next - 1;
    if (isHere && one.link === hex(this.previous)) return;
    const why = `The checkpoint or proof at event ${one.seq} belongs to another tape.`;
    throw new Broken(one.seq, "checkpoint_misplaced", why);
  }

  private takeProof(one: Proof): void {
    this.requireHere(one);
    const stamps = this.proofs?.take(one, this.found) ?? [];
    const trusted = stamps.filter((stamp) => stamp.isTrusted).map((stamp) => stamp.at);
    if (!trusted.length) return;
    if (this.waiting !== null) {
      const gap = Math.min(...trusted) - this.waiting;
      this.found.stampGap = Math.max(gap, this.found.stampGap ?? gap);
    }
    [this.waiting, this.stamped] = [null, one.seq];
  }
}

/** The shown fields of an event as values, for what is said about it. */
function shown(event: Event): Record<string, unknown> {
  const values = event.fields.map(({ name, value }) => [
    textOf(name),
    JSON.parse(new TextDecoder().decode(value)) as unknown,
  ]);
  return Object.fromEntries(values) as Record<string, unknown>;
}
