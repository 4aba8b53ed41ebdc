/** Proofs from outside: that a head of the tape was in a log that others signed or stamped. */
import { equal, hex, utf8 } from "../bytes/bytes";
import type { Sha256 } from "../bytes/sha256";
import type { Head, Proof, Stamp } from "../lines/lines";
import { inStatement } from "../lines/numbers";
import { quoted } from "../lines/quoting";
import type { Certificate } from "../proof/certificates";
import { rootOf } from "../proof/merkle";
import { cosignedAt, isSignedByServer, type Note, readNote, WrongSignature } from "../proof/note";
import { checkStamp } from "../proof/stamps";
import { fingerprintOf } from "./keys";
import { Broken, type Checked, type Cosigned, type Stamped } from "./outcome";

export class Proofs {
  /** Roots that the notes of this record give, and those of the earlier one. */
  private readonly roots: Map<string, string>;
  /** Of the log that the last proof is of. */
  private origin: string | null = null;

  constructor(
    private readonly sha256: Sha256,
    private readonly head: Head,
    private readonly trusted: Certificate[],
    earlier: Checked | null,
  ) {
    this.roots = new Map(earlier?.logHeads);
  }

  /** Adds what a proof shows, and returns its stamps; throws if a part of it is wrong. */
  take(one: Proof, found: Checked): Stamped[] {
    const note = this.signedNote(one);
    this.requirePaths(one, note);
    this.requireOneHistory(one, note, found);
    found.cosigned.push(...this.cosigned(one.seq, note));
    found.proofs++;
    const stamps = one.stamps.map((each) => this.stamped(one.seq, note, each));
    found.stamps.push(...stamps);
    return stamps;
  }

  private cosigned(seq: number, note: Note): Cosigned[] {
    return this.head.witnesses.flatMap((witness) => {
      try {
        const at = cosignedAt(this.sha256, note, witness);
        const fingerprint = fingerprintOf(this.sha256, witness.publicKey);
        return at === null ? [] : [{ seq, at, name: witness.name, fingerprint }];
      } catch (error) {
        if (!(error instanceof WrongSignature)) throw error;
        const why = `The head of the log at event ${seq} is not signed by the witness ${quoted(witness.name)}.`;
        throw new Broken(seq, "witness_wrong", why);
      }
    });
  }

  private stamped(seq: number, note: Note, { authority, response }: Stamp): Stamped {
    const stamp = checkStamp(response, note.text, this.trusted);
    if (stamp !== null) return { seq, authority, ...stamp };
    const why = `The time stamp of ${quoted(authority)} at event ${seq} is over something else, or not signed by that authority.`;
    throw new Broken(seq, "stamp_wrong", why);
  }

  private signedNote(one: Proof): Note {
    const note = readNote(one.note);
    const keys = this.head.keys.map((key) => key.publicKey);
    if (note !== null && isSignedByServer(this.sha256, note, keys)) return note;
    const why = `The head of the log at event ${one.seq} is not signed by a key of this record.`;
    throw new Broken(one.seq, "note_wrong", why);
  }

  /** From the head of the tape to the root of its tree, and from there to the root of the log. */
  private requirePaths({ seq, link, tree, log }: Proof, note: Note): void {
    const leaf = utf8(JSON.stringify(["tapeline head", this.head.modelId, seq, link]));
    const root = rootOf(this.sha256, leaf, { ...tree, place: tree.leaf });
    const said = ["tapeline heads", tree.size, hex(root ?? NONE), inStatement(log.at)];
    const entry = utf8(JSON.stringify(said));
    const whole = root && rootOf(this.sha256, entry, { ...log, place: log.entry });
    if (whole && equal(whole, note.root) && log.size === note.size) return;
    const why = `The proof at event ${seq} does not lead to the head of the log that it has.`;
    throw new Broken(seq, "proof_wrong", why);
  }

  /** A log has one root at each size. Two are the proof that its owner shows two histories. */
  private requireOneHistory({ seq }: Proof, note: Note, found: Checked): void {
    const name = `${note.origin} ${note.size}`;
    const root = hex(note.root);
    if ((this.roots.get(name) ?? root) !== root) {
      const why = `The server signed two different heads of its log at size ${note.size}: it shows different histories to different readers.`;
      throw new Broken(seq, "two_histories", why);
    }
    this.roots.set(name, root);
    found.logHeads.set(name, root);
    if (this.origin !== null && this.origin !== note.origin) found.newLogs.push(seq);
    this.origin = note.origin;
  }
}

const NONE = new Uint8Array();
