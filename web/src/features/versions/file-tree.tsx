/** The files of a version as a tree. Virtual rows, because an archive may hold ten thousand. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import { bytes } from "~/format/numbers";
import { Icon } from "~/ui/icons";
import type { SourceFile } from "./file-changes";
import { foldersOf, openFolders, type TreeRow, treeRows } from "./tree";

const ROW = 30;

export function FileTree({
  files,
  read,
  choose,
}: {
  files: readonly SourceFile[];
  /** The path of the file that is shown. */
  read: string;
  choose: (path: string) => void;
}) {
  const [open, setOpen] = useState(() => openFolders(files, read));
  const rows = useMemo(() => treeRows(files, open), [files, open]);
  const place = useRef<HTMLElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW,
    overscan: 20,
  });
  const toggle = (path: string) =>
    setOpen((now) => {
      const next = new Set(now);
      if (!next.delete(path)) for (const one of [path, ...foldersOf(path)]) next.add(one);
      return next;
    });
  return (
    <nav
      ref={place}
      aria-label="Files"
      className="max-h-48 overflow-auto p-1.5 lg:max-h-[calc(100dvh-15rem)]"
    >
      <ul className="relative" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return (
            row && (
              <li
                key={row.path}
                className="absolute top-0 left-0 w-full"
                style={{ height: ROW, transform: `translateY(${start}px)` }}
              >
                <Entry row={row} isRead={row.path === read} choose={choose} toggle={toggle} />
              </li>
            )
          );
        })}
      </ul>
    </nav>
  );
}

function Entry({
  row: { path, name, depth, file, isOpen },
  isRead,
  choose,
  toggle,
}: {
  row: TreeRow;
  isRead: boolean;
  choose: (path: string) => void;
  toggle: (path: string) => void;
}) {
  return (
    <button
      type="button"
      title={path}
      aria-current={isRead ? "true" : undefined}
      aria-expanded={file ? undefined : isOpen}
      onClick={() => (file ? choose(path) : toggle(path))}
      className={`flex h-full w-full items-center gap-1.5 rounded-md pr-2 text-left hover:bg-hover focus-visible:-outline-offset-2 ${isRead ? "bg-accent-ground font-medium" : ""}`}
      style={{ paddingLeft: `${0.5 + Math.min(depth, 12) * 0.875}rem` }}
    >
      {file ? (
        <span className="w-4 shrink-0" />
      ) : (
        <Icon name={isOpen ? "down" : "right"} className="text-soft" />
      )}
      <bdi className="min-w-0 flex-1 truncate">{name}</bdi>
      {file && <span className="num shrink-0 text-xs text-soft">{bytes(file.size)}</span>}
    </button>
  );
}
