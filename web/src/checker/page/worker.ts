/** Checks records beside the page, so that the page stays alive and shows how far it is. */
import { loadSha256, startHash } from "../bytes/sha256";
import type { Key } from "../lines/lines";
import { type Certificate, readCertificates } from "../proof/certificates";
import { check } from "../record/check";
import type { Checked } from "../record/outcome";
import { type Asked, Reader } from "../record/reader";
import { report } from "../record/words";
import type { Answer, CheckRequest, Request, Source } from "./messages";
import { Failure, publishedKeys } from "./published";

const EVERY = 100; // milliseconds between two words about progress

const sha256 = loadSha256();
let last: Reader | null = null;

self.onmessage = ({ data }: MessageEvent<Request>) => {
  answer(data).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    say({ type: "failed", why });
  });
};

async function answer(request: Request): Promise<void> {
  const published = request.server ? await publishedKeys(await sha256, request.server) : [];
  if (request.type === "judge" && last !== null) {
    last.judge(request.keys, published);
    say({ type: "done", report: report(last.found) });
  } else if (request.type === "check") {
    say({ type: "done", report: report(await checked(request, published)) });
  }
}

async function checked(request: CheckRequest, published: Key[]): Promise<Checked> {
  const trusted = await certificatesIn(request.certificates);
  const known = request.keys;
  let earlier: Checked | null = null;
  if (request.earlier !== null) {
    earlier = await read({ file: request.earlier }, { known, published, trusted, earlier });
    if (earlier.reason !== null) {
      const reason = `The earlier record is broken, so nothing was compared: ${earlier.reason}`;
      return { ...earlier, reason };
    }
  }
  return read(request.source, { known, published, trusted, earlier });
}

async function certificatesIn(files: Blob[]): Promise<Certificate[]> {
  const found: Certificate[] = [];
  for (const file of files) {
    try {
      found.push(...readCertificates(new Uint8Array(await file.arrayBuffer())));
    } catch {
      throw new Failure("A file of certificates is not in the form PEM or DER.");
    }
  }
  return found;
}

async function read(source: Source, asked: Asked): Promise<Checked> {
  const reader = new Reader(await sha256, await startHash(), asked);
  last = reader;
  const { stream, size } = await opened(source);
  let told = 0;
  return check(portions(stream), reader, (bytes) => {
    const now = performance.now();
    if (now - told < EVERY) return;
    told = now;
    say({ type: "progress", bytes, share: size ? bytes / size : reader.share });
  });
}

async function opened(source: Source): Promise<{ stream: ReadableStream; size: number }> {
  if ("file" in source) return { stream: source.file.stream(), size: source.file.size };
  const answer = await fetch(source.url, { cache: "no-store" });
  if (!answer.ok || answer.body === null) throw new Failure(await refusal(answer));
  return { stream: answer.body, size: 0 };
}

/** The server's own words, if it has any. */
async function refusal(answer: Response): Promise<string> {
  const text = (await answer.text()).slice(0, 500);
  try {
    const said = JSON.parse(text) as { error?: unknown };
    if (typeof said.error === "string") return said.error;
  } catch {
    // Not in the shape of a server of Tapeline.
  }
  return `The server did not give the record (status ${answer.status}).`;
}

async function* portions(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reading = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reading.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reading.cancel().catch(() => undefined);
  }
}

function say(answer: Answer): void {
  self.postMessage(answer);
}
