/** The set of good and bad records, which `tapeline verify` must judge in the same way. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { fromBase64, utf8 } from "../bytes/bytes";
import { loadSha256, startHash } from "../bytes/sha256";
import { readCertificates } from "../proof/certificates";
import { check } from "./check";
import { type Checked, notShown, statusOf, verdictOf } from "./outcome";
import { Reader } from "./reader";
import { report } from "./words";

interface Case {
  name: string;
  record: string;
  earlier: string | null;
  keys: string[];
  certificates: string[];
  published: {
    public_key: string;
    made_at: number | null;
    previous: string | null;
    signature: string | null;
    acceptance: string | null;
  }[];
  status: number;
  verdict: string;
  broken_at: number | null;
  reason: string | null;
  facts: Record<string, number> | null;
  /** Events that `tapeline verify` lists as changes after the fact. */
  changed: number[];
}

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const sha256 = await loadSha256();

/** Written anew by the server's own code, so the two cannot drift apart. */
function everyCase(): Case[] {
  const own = `${ROOT}.venv/bin/python`;
  const python = process.env.TAPELINE_PYTHON ?? (existsSync(own) ? own : "python3");
  const most = 64 * 1024 * 1024;
  const written = execFileSync(python, ["-m", "tests.tape.record.cases"], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: most,
  });
  return written
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Case);
}

async function* inPortions(record: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < record.length; at += size) yield record.subarray(at, at + size);
}

async function checked(
  one: Case,
  record = one.record,
  earlier: Checked | null = null,
  size = 1000,
): Promise<Checked> {
  const bytes = fromBase64(record) ?? new Uint8Array();
  const trusted = one.certificates.flatMap((pem) => readCertificates(utf8(pem)));
  const published = one.published.map(({ public_key: publicKey, made_at: madeAt, ...rest }) => ({
    publicKey,
    madeAt,
    ...rest,
  }));
  const reader = new Reader(sha256, await startHash(), {
    known: one.keys,
    published,
    earlier,
    trusted,
  });
  return check(inPortions(bytes, size), reader);
}

function factsOf(found: Checked): Record<string, number> {
  return {
    events: found.events,
    hidden: found.hidden,
    partly: found.partly,
    not_shown: notShown(found),
    unsigned: found.unsigned,
    first_signed: found.first?.seq ?? 0,
    set_back: found.setBack,
    new_logs: found.newLogs.length,
    lists: found.lists,
    lists_missing: found.listsMissing,
  };
}

describe("the set of good and bad records", () => {
  const cases = everyCase();

  it("has at least sixty ways to tamper", () => {
    expect(cases.filter((one) => one.status === 1).length).toBeGreaterThanOrEqual(60);
  });

  it.each(cases.map((one) => [one.name, one] as const))("%s", async (_name, one) => {
    const earlier = one.earlier === null ? null : await checked(one, one.earlier);
    const found = await checked(one, one.record, earlier);
    const said = [verdictOf(found), statusOf(found), found.brokenAt, found.reason];
    expect(said).toEqual([one.verdict, one.status, one.broken_at, one.reason]);
    if (one.facts !== null) expect(factsOf(found)).toEqual(one.facts);
    const listed = found.afterwards.items.map((item) => item.seq);
    expect(one.changed.filter((seq) => !listed.includes(seq))).toEqual([]);
    expect(report(found).sentence).toBeTruthy();
  });

  it("is judged alike wherever the network divides it", async () => {
    const one = cases.find((found) => found.verdict === "proven") as Case;
    for (const size of [1, 7, 1 << 20]) {
      expect(statusOf(await checked(one, one.record, null, size))).toBe(0);
    }
  });
});
