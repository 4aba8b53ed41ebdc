/** SHA-256 in WebAssembly: the browser's own is one promise per call, and absent on plain HTTP. */
import { createSHA256 } from "hash-wasm";

export type Sha256 = (...parts: Uint8Array[]) => Uint8Array;

/** The hash of something that arrives in parts. */
export interface RunningHash {
  update(part: Uint8Array): unknown;
  digest(): string;
}

export async function startHash(): Promise<RunningHash> {
  return new Adjoining((await createSHA256()).init());
}

/**
 * Lines of a file lie one after the other in the portions that arrive. They are hashed a portion at
 * a time, because a call for each of a million lines would take longer than the hash.
 */
class Adjoining implements RunningHash {
  private buffer: ArrayBufferLike = new ArrayBuffer(0);
  private start = 0;
  private end = 0;

  constructor(private readonly inner: RunningHash) {}

  update(part: Uint8Array): void {
    if (part.buffer !== this.buffer || part.byteOffset !== this.end) {
      this.flush();
      this.buffer = part.buffer;
      this.start = part.byteOffset;
    }
    this.end = part.byteOffset + part.length;
  }

  digest(): string {
    this.flush();
    return this.inner.digest();
  }

  private flush(): void {
    this.inner.update(new Uint8Array(this.buffer, this.start, this.end - this.start));
    this.start = this.end;
  }
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
