import { expect, it } from "vitest";
import { fileChanges, type SourceFile, summary } from "./file-changes";

const file = (path: string, sha256 = path, is_executable = false, size = 1): SourceFile => ({
  path,
  size,
  sha256,
  is_executable,
});
const told = (before: SourceFile[], now: SourceFile[]) =>
  fileChanges(before, now).changes.map(({ kind, path }) => `${kind} ${path}`);

it("tells files that came, went, changed and stayed", () => {
  const { changes, unchanged } = fileChanges(
    [file("a"), file("b"), file("d")],
    [file("a"), file("b", "other"), file("c")],
  );
  expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
    "changed b",
    "added c",
    "removed d",
  ]);
  expect(unchanged).toBe(1);
  expect(summary(changes)).toBe("1 changed, 1 added, 1 removed");
});

it("follows a file to its new path", () => {
  expect(told([file("old.py", "x")], [file("new.py", "x")])).toEqual(["moved new.py"]);
  // An empty file is no sign of anything.
  expect(told([file("a", "e", false, 0)], [file("b", "e", false, 0)])).toEqual([
    "removed a",
    "added b",
  ]);
  // One file moves once.
  expect(told([file("a", "x")], [file("b", "x"), file("c", "x")])).toEqual(["moved b", "added c"]);
});

it("tells of a file that became a program", () => {
  expect(told([file("run.sh", "x")], [file("run.sh", "x", true)])).toEqual(["mode run.sh"]);
});

it("has nothing to tell of the same files", () => {
  expect(fileChanges([file("a")], [file("a")])).toEqual({ changes: [], unchanged: 1 });
  expect(summary([])).toBe("");
});
