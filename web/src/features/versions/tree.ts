/** A version's files as the rows of a tree, with the folders that are open. */
import type { SourceFile } from "./file-changes";

export interface TreeRow {
  path: string;
  name: string;
  depth: number;
  /** Null for a folder. */
  file: SourceFile | null;
  isOpen: boolean;
}

/** More files than this begin with closed folders. */
export const FEW = 200;

/** The rows that show, by path: folders first, as file managers do it. */
export function treeRows(files: readonly SourceFile[], open: ReadonlySet<string>): TreeRow[] {
  const inside = new Map<string, Set<string>>();
  const known = new Map(files.map((file) => [file.path, file]));
  for (const { path } of files) {
    let [child, parent] = [path, parentOf(path)];
    for (;;) {
      const children = inside.get(parent) ?? new Set();
      const isKnown = children.has(child);
      inside.set(parent, children.add(child));
      if (isKnown || parent === "") break;
      [child, parent] = [parent, parentOf(parent)];
    }
  }
  const rows: TreeRow[] = [];
  const add = (parent: string, depth: number) => {
    const children = [...(inside.get(parent) ?? [])].sort(
      (a, b) => Number(known.has(a)) - Number(known.has(b)) || (a < b ? -1 : 1),
    );
    for (const path of children) {
      const isOpen = inside.has(path) && open.has(path);
      const name = path.slice(parent ? parent.length + 1 : 0);
      rows.push({ path, name, depth, file: known.get(path) ?? null, isOpen });
      if (isOpen) add(path, depth + 1);
    }
  };
  add("", 0);
  return rows;
}

/** The folders that are open at first: all of a few files, or those around the file that is read. */
export function openFolders(files: readonly SourceFile[], read: string): Set<string> {
  const shown = files.length <= FEW ? files.map(({ path }) => path) : [read];
  return new Set(shown.flatMap(foldersOf));
}

export function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
