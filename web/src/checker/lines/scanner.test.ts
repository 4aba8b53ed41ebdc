/** Forms of a line that the server would write, and forms that it would not. */
import { describe, expect, it } from "vitest";
import { utf8 } from "../bytes/bytes";
import { inLine, inStatement } from "./numbers";
import { NotCanonical, Scanner } from "./scanner";

function read<Value>(text: string, reader: (scanner: Scanner) => Value): Value {
  const scanner = new Scanner();
  scanner.open(utf8(`${text}\n`));
  const found = reader(scanner);
  scanner.close();
  return found;
}

describe("numbers", () => {
  it.each([
    [0, "0.0", "0.0"],
    [-0, "-0.0", "-0.0"],
    [1, "1.0", "1.0"],
    [1793000000.123456, "1793000000.123456", "1793000000.123456"],
    [1e15, "1000000000000000.0", "1000000000000000.0"],
    [1e16, "1e16", "1e+16"],
    [1.5e300, "1.5e300", "1.5e+300"],
    [0.0001, "0.0001", "0.0001"],
    [0.00001234, "0.00001234", "1.234e-05"],
    [1e-6, "1e-6", "1e-06"],
    [5e-324, "5e-324", "5e-324"],
  ])("%d is written as the server writes it", (value, line, statement) => {
    expect([inLine(value), inStatement(value)]).toEqual([line, statement]);
    expect(read(line, (scanner) => scanner.double())).toBe(value);
  });

  it.each(["1", "1.00", "01.0", "1e3", "+1.0", ".5", "1.", "1e400", "NaN", "0.10", "1.0 "])(
    "%s is refused",
    (text) => {
      expect(() => read(text, (scanner) => scanner.double())).toThrow(NotCanonical);
    },
  );

  it.each(["01", "-0", "1.0", "9007199254740992", "-1", ""])("%s is not a count", (text) => {
    expect(() => read(text, (scanner) => scanner.count())).toThrow(NotCanonical);
  });
});

describe("texts", () => {
  it.each([
    ['"é😀/\\""', 'é😀/"'],
    ['"\\n\\u0001\\u001f"', "\n\u0001\u001f"],
  ])("%s is read", (line, text) => {
    expect(read(line, (scanner) => scanner.text())).toBe(text);
  });

  it.each(['"\\u0041"', '"\\u000a"', '"\\u001F"', '"\\/"', '"\t"', '"\\ud83d\\ude00"', '"a'])(
    "%s is not how the server writes it",
    (line) => {
      expect(() => read(line, (scanner) => scanner.text())).toThrow(NotCanonical);
    },
  );
});

describe("values that were hashed", () => {
  it.each(['{"a" : [1.0, 1E+05, -0]}', '"\\u0041\\ud83d\\ude00"', "[ ]", "null"])(
    "%s keeps its text",
    (line) => {
      expect(read(line, (scanner) => new TextDecoder().decode(scanner.raw()))).toBe(line);
    },
  );

  it.each([
    "[1,]",
    '{"a":1,}',
    "01",
    "1.",
    '"\\ud800"',
    '"\\udc00"',
    '"\\x"',
    "tru",
    " 1",
    "1 ",
    "{1:2}",
  ])("%s is not JSON, or not at its place", (line) => {
    expect(() => read(line, (scanner) => scanner.raw())).toThrow(NotCanonical);
  });

  it("refuses a name twice, and bytes that are not UTF-8", () => {
    const names = (scanner: Scanner): void => scanner.entries(() => scanner.raw());
    expect(() => read('{"a":1,"a":1}', names)).toThrow(NotCanonical);
    const scanner = new Scanner();
    scanner.open(new Uint8Array([0x22, 0xff, 0x22, 0x0a]));
    scanner.raw();
    expect(() => scanner.close()).toThrow(NotCanonical);
  });
});
