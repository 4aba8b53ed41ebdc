/** SHA-256 in WebAssembly: the browser's own is one promise per call, and absent on plain HTTP. */
import { createSHA256 } from "hash-wasm";

export type Sha256 = (...parts: Uint8Array[]) => Uint8Array;

/** The hash of something that arrives in parts. */
export interface RunningHash {
  update(part: Uint8Array): unknown;
  digest(): string;
}

export async function startHash(): Promise<RunningHash> {
  return (await createSHA256()).init();
}

/** Loads the module once; from then on each hash is an ordinary call. */
export async function loadSha256(): Promise<Sha256> {
  const hasher = await createSHA256();
  return (...parts) => {
    hasher.init();
    for (const part of parts) hasher.update(part);
    return hasher.digest("binary");
  };
}
