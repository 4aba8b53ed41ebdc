/** Checks a record that arrives in portions of any size. Memory stays bounded by its longest line. */
import type { Checked } from "./outcome";
import type { Reader } from "./reader";

const NEWLINE = 0x0a;

export async function check(
  portions: AsyncIterable<Uint8Array>,
  reader: Reader,
  reached: (bytes: number) => void = () => {},
): Promise<Checked> {
  const rest = new Rest();
  let bytes = 0;
  for await (const portion of portions) {
    if (!takeLines(reader, rest, portion)) return reader.end();
    bytes += portion.length;
    reached(bytes);
  }
  if (rest.size) reader.take(rest.taken());
  return reader.end();
}

/** False if the record is broken. */
function takeLines(reader: Reader, rest: Rest, portion: Uint8Array): boolean {
  let start = 0;
  for (let end = portion.indexOf(NEWLINE); end >= 0; end = portion.indexOf(NEWLINE, start)) {
    let line = portion.subarray(start, end + 1);
    if (rest.size) {
      rest.add(line);
      line = rest.taken();
    }
    if (!reader.take(line)) return false;
    start = end + 1;
  }
  rest.add(portion.subarray(start));
  return true;
}

/** The beginning of a line whose end has not arrived. */
class Rest {
  size = 0;
  private bytes = new Uint8Array(1 << 16);

  add(more: Uint8Array): void {
    const wanted = this.size + more.length;
    if (wanted > this.bytes.length) {
      const larger = new Uint8Array(Math.max(wanted, this.bytes.length * 2));
      larger.set(this.bytes.subarray(0, this.size));
      this.bytes = larger;
    }
    this.bytes.set(more, this.size);
    this.size = wanted;
  }

  taken(): Uint8Array {
    const found = this.bytes.slice(0, this.size);
    this.size = 0;
    return found;
  }
}
