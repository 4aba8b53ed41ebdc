/** The keys that a server publishes, for a reader who trusts its address. */
import type { Sha256 } from "../bytes/sha256";
import type { Key } from "../lines/lines";
import { trouble } from "../record/keys";

const PATH = "/.well-known/tapeline-keys.json";

export class Failure extends Error {}

export async function publishedKeys(sha256: Sha256, server: string): Promise<Key[]> {
  const keys = read(await fetched(addressOf(server)), server);
  const said = trouble(sha256, keys);
  if (said !== null) {
    throw new Failure(`The keys that ${server} publishes do not fit together. ${said}`);
  }
  return keys;
}

function addressOf(server: string): string {
  // Nobody on the way may answer in the server's place, unless the reader asks for plain HTTP.
  const full = /^https?:\/\//.test(server) ? server : `https://${server}`;
  try {
    return new URL(PATH, full).href;
  } catch {
    throw new Failure(`${server} is not the address of a server.`);
  }
}

async function fetched(url: string): Promise<unknown> {
  try {
    const answer = await fetch(url, { credentials: "omit", cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    return await answer.json();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(
      `${url} could not be read (${why}). Type the fingerprint of the key instead.`,
    );
  }
}

function read(said: unknown, server: string): Key[] {
  const list = (said as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(list)) throw new Failure(`${server} does not publish keys of Tapeline.`);
  return list.map((one: Record<string, unknown>) => ({
    publicKey: String(one.public_key),
    madeAt: typeof one.made_at === "number" ? one.made_at : null,
    previous: textOrNull(one.previous),
    signature: textOrNull(one.signature),
    acceptance: textOrNull(one.acceptance),
  }));
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
