/** What happened to each file between two versions, from the hashes of their content. */
import type { Schemas } from "~/api/client";

export type SourceFile = Schemas["SourceFile"];

export interface FileChange {
  /** Its path in the later version; of a removed file, in the earlier one. */
  path: string;
  kind: "added" | "removed" | "changed" | "moved" | "mode";
  before: SourceFile | null;
  now: SourceFile | null;
}

export interface FileChanges {
  changes: FileChange[];
  unchanged: number;
}

export function fileChanges(
  before: readonly SourceFile[],
  now: readonly SourceFile[],
): FileChanges {
  const earlier = new Map(before.map((file) => [file.path, file]));
  const later = new Set(now.map(({ path }) => path));
  const gone = before.filter(({ path }) => !later.has(path));
  const changes: FileChange[] = [];
  let unchanged = 0;
  for (const file of now) {
    const old = earlier.get(file.path);
    if (old && isSame(old, file)) unchanged += 1;
    else if (old)
      changes.push({ path: file.path, kind: kindOf(old, file), before: old, now: file });
    else changes.push(arrived(file, gone));
  }
  for (const file of gone)
    changes.push({ path: file.path, kind: "removed", before: file, now: null });
  changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { changes, unchanged };
}

/** A new file, or one that had another path: then it is no longer among those that are gone. */
function arrived(file: SourceFile, gone: SourceFile[]): FileChange {
  const at = file.size === 0 ? -1 : gone.findIndex(({ sha256 }) => sha256 === file.sha256);
  const [old = null] = at < 0 ? [] : gone.splice(at, 1);
  return { path: file.path, kind: old ? "moved" : "added", before: old, now: file };
}

function isSame(old: SourceFile, file: SourceFile): boolean {
  return old.sha256 === file.sha256 && old.is_executable === file.is_executable;
}

function kindOf(old: SourceFile, file: SourceFile): FileChange["kind"] {
  return old.sha256 === file.sha256 ? "mode" : "changed";
}

const WORDS: Record<FileChange["kind"], string> = {
  changed: "changed",
  added: "added",
  removed: "removed",
  moved: "moved",
  mode: "with other rights",
};

/** For example "2 changed, 1 added". */
export function summary(changes: readonly FileChange[]): string {
  return Object.entries(WORDS)
    .map(([kind, word]) => [changes.filter((one) => one.kind === kind).length, word] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count.toLocaleString("en")} ${word}`)
    .join(", ");
}
