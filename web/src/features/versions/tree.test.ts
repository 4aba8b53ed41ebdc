import { expect, it } from "vitest";
import { openFolders, treeRows } from "./tree";

const files = (...paths: string[]) =>
  paths.map((path) => ({ path, size: 1, sha256: path, is_executable: false }));
const told = (paths: string[], open: string[]) =>
  treeRows(files(...paths), new Set(open)).map(
    ({ name, depth, file }) => "  ".repeat(depth) + name + (file ? "" : "/"),
  );

it("lists folders before files, and what is in an open one", () => {
  const paths = ["main.py", "a.py", "data/b.csv", "data/deep/c.csv"];
  expect(told(paths, [])).toEqual(["data/", "a.py", "main.py"]);
  expect(told(paths, ["data"])).toEqual(["data/", "  deep/", "  b.csv", "a.py", "main.py"]);
  expect(told(paths, ["data", "data/deep"])).toContain("    c.csv");
});

it("opens everything that is little, and of much only the way to the file", () => {
  expect([...openFolders(files("a/b/c.py", "d/e.py"), "a/b/c.py")]).toEqual(["a", "a/b", "d"]);
  const many = Array.from({ length: 300 }, (_, at) => `f${at}/x.py`);
  expect([...openFolders(files(...many), "f7/x.py")]).toEqual(["f7"]);
});

it("takes as long for ten thousand files as it must", () => {
  const many = files(...Array.from({ length: 10_000 }, (_, at) => `a/b/c/d/e/f/g/${at}.py`));
  const open = openFolders(many, "a/b/c/d/e/f/g/0.py");
  expect(treeRows(many, open)).toHaveLength(10_007);
});
