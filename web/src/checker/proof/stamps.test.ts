/** Time stamps by a real authority: `openssl ts`, with keys of each kind. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { utf8 } from "../bytes/bytes";
import { type Certificate, readCertificates } from "./certificates";
import { checkStamp } from "./stamps";

const TEXT = utf8("log.example.com\n3\nroot\n");
const KEYS = {
  rsa: ["rsa:2048"],
  p256: ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
  p384: ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
};
const CONFIG = `
[ca]
basicConstraints = critical,CA:true
[leaf]
basicConstraints = CA:false
extendedKeyUsage = critical,timeStamping
[other]
basicConstraints = CA:false
[tsa]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256, sha512
ess_cert_id_alg = sha256
`;

describe.each(Object.entries(KEYS))("a stamp by a key of the kind %s", (_kind, key) => {
  const folder = mkdtempSync(join(tmpdir(), "stamps-"));
  const openssl = (...options: string[]): Buffer =>
    execFileSync("openssl", options, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  let stamp: Uint8Array;
  let root: Certificate[];

  beforeAll(() => {
    writeFileSync(join(folder, "config"), CONFIG);
    writeFileSync(join(folder, "serial"), "01");
    writeFileSync(join(folder, "text"), TEXT);
    const made = ["-newkey", ...key, "-nodes", "-config", "/dev/null"];
    openssl(
      "req",
      "-x509",
      ...made,
      "-subj",
      "/CN=Root",
      "-keyout",
      "ca.key",
      "-out",
      "ca.pem",
      "-addext",
      "basicConstraints=critical,CA:true",
    );
    openssl("req", "-new", ...made, "-subj", "/CN=Stamps", "-keyout", "tsa.key", "-out", "tsa.csr");
    openssl(
      "x509",
      "-req",
      "-in",
      "tsa.csr",
      "-CA",
      "ca.pem",
      "-CAkey",
      "ca.key",
      "-out",
      "tsa.pem",
      "-extfile",
      "config",
      "-extensions",
      "leaf",
    );
    openssl("ts", "-query", "-data", "text", "-sha256", "-cert", "-out", "query");
    openssl(
      "ts",
      "-reply",
      "-config",
      "config",
      "-section",
      "tsa",
      "-queryfile",
      "query",
      "-signer",
      "tsa.pem",
      "-inkey",
      "tsa.key",
      "-out",
      "reply",
    );
    stamp = new Uint8Array(readFileSync(join(folder, "reply")));
    root = readCertificates(new Uint8Array(readFileSync(join(folder, "ca.pem"))));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("is trusted if its root is", () => {
    const found = checkStamp(stamp, TEXT, root);
    expect(found).toMatchObject({ isTrusted: true, isChecked: true });
    expect(Math.abs((found?.at ?? 0) - Date.now() / 1000)).toBeLessThan(86_400);
  });

  it("is not trusted without a certificate of the reader", () => {
    expect(checkStamp(stamp, TEXT, [])).toMatchObject({ isTrusted: false, isChecked: true });
  });

  it("is wrong over another text", () => {
    expect(checkStamp(stamp, utf8("another"), root)).toBeNull();
  });

  it("is never trusted after any byte was changed", () => {
    for (let at = 0; at < stamp.length; at += 53) {
      const changed = stamp.slice();
      changed[at] = (changed[at] ?? 0) ^ 0x01;
      const found = checkStamp(changed, TEXT, root);
      // Names and dates inside certificates can change the chain; the signed statement cannot.
      if (found?.isTrusted) expect(found.at).toBe(checkStamp(stamp, TEXT, root)?.at);
    }
  });
});
