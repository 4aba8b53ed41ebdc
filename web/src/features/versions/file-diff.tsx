/** The change of one file between two versions, as lines one below the other or side by side. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { Schemas } from "~/api/client";
import { bytes, integer } from "~/format/numbers";
import { Icon } from "~/ui/icons";
import { Failed, Skeleton } from "~/ui/panel";
import { DiffRows } from "./diff-rows";
import type { FileChange, SourceFile } from "./file-changes";
import { lineDiff } from "./line-diff";
import { downloadOf, fileText } from "./queries";

const TONES: Record<FileChange["kind"], string> = {
  added: "bg-good-ground text-good",
  removed: "bg-bad-ground text-bad",
  changed: "bg-accent-ground text-ink",
  moved: "bg-accent-ground text-ink",
  mode: "bg-accent-ground text-ink",
};

export interface Side {
  /** The ids of the two versions. */
  before: string;
  now: string;
}

export function FileDiff({
  change,
  side,
  isSplit,
  isOpen,
  isSought,
  toggle,
}: {
  change: FileChange;
  side: Side;
  isSplit: boolean;
  isOpen: boolean;
  /** Whether the address names this file. */
  isSought: boolean;
  toggle: () => void;
}) {
  const place = useRef<HTMLElement>(null);
  // Only at first: what a reader opens is in view already.
  const [wasSought] = useState(isSought);
  useEffect(() => {
    if (wasSought) place.current?.scrollIntoView({ block: "start" });
  }, [wasSought]);
  const texts = useTexts(change, side, isOpen);
  const diff = useMemo(
    () => (texts.before && texts.now ? compared(texts.before, texts.now) : null),
    [texts.before, texts.now],
  );
  return (
    <section ref={place} className="min-w-0 scroll-mt-14 rounded-lg border border-line bg-surface">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-line px-3 py-2">
        <h3 className="flex min-w-0 flex-1 basis-56 font-normal">
          <button
            type="button"
            aria-expanded={isOpen}
            onClick={toggle}
            className="flex min-w-0 items-center gap-2 text-left"
          >
            <Icon name={isOpen ? "down" : "right"} className="text-soft" />
            <bdi className="min-w-0 font-mono text-sm [overflow-wrap:anywhere]">{change.path}</bdi>
          </button>
        </h3>
        <span className={`rounded-full px-2 py-0.5 text-xs ${TONES[change.kind]}`}>
          {change.kind === "mode" ? "rights" : change.kind}
        </span>
        {diff && (diff.added > 0 || diff.removed > 0) && (
          <span className="num text-sm">
            <span className="text-good">+{integer(diff.added)}</span>{" "}
            <span className="text-bad">−{integer(diff.removed)}</span>
            <span className="sr-only"> lines</span>
          </span>
        )}
        <Sources change={change} side={side} />
      </div>
      {isOpen && (
        <div className="border-t border-line">
          {change.kind === "moved" && <Note>Was {change.before?.path}.</Note>}
          {change.before &&
            change.now &&
            change.before.is_executable !== change.now.is_executable && (
              <Note>
                {change.now.is_executable
                  ? "Now a program that can be executed."
                  : "No longer executable."}
              </Note>
            )}
          {texts.error ? (
            <Failed error={texts.error} />
          ) : !isText(change) ? null : !(texts.before && texts.now) ? (
            <Skeleton rows={4} />
          ) : diff === null ? (
            <Sizes change={change} side={side} />
          ) : diff.added + diff.removed === 0 ? (
            <Note>{sameLines(texts.before, texts.now)}</Note>
          ) : (
            <>
              {diff.isRough && (
                <Note>
                  The texts differ too much to match line by line, so equal lines may be shown as
                  removed and added.
                </Note>
              )}
              <DiffRows lines={diff.lines} isSplit={isSplit} path={change.path} />
            </>
          )}
        </div>
      )}
    </section>
  );
}

type Text = Pick<Schemas["SourceText"], "text" | "is_exact">;
const NO_FILE: Text = { text: "", is_exact: true };

/** A file that only moved, or has other rights, has no change to read. */
function isText({ kind }: FileChange): boolean {
  return kind !== "moved" && kind !== "mode";
}

function useTexts(change: FileChange, side: Side, isOpen: boolean) {
  const { model = "" } = useParams({ strict: false });
  const enabled = isOpen && isText(change);
  const asked = (version: string, file: SourceFile | null) => ({
    ...fileText(model, version, file?.path ?? ""),
    enabled: enabled && file !== null,
  });
  const before = useQuery(asked(side.before, change.before));
  const now = useQuery(asked(side.now, change.now));
  return {
    before: change.before ? before.data : NO_FILE,
    now: change.now ? now.data : NO_FILE,
    error: before.error ?? now.error,
  };
}

/** Null if one of them is not text, or too large. */
function compared(before: Text, now: Text) {
  return before.text === null || now.text === null ? null : lineDiff(before.text, now.text);
}

/** Why two files differ whose lines are the same. */
function sameLines(before: Text, now: Text): string {
  if (!before.text && !now.text) return "The file is empty.";
  return before.is_exact && now.is_exact
    ? "Only the end of the file differs: one of them ends without a line break."
    : "The files differ in bytes that are not valid UTF-8, which cannot be shown.";
}

function Note({ children }: { children: ReactNode }) {
  return <p className="px-4 py-2 text-soft [overflow-wrap:anywhere]">{children}</p>;
}

function Sources({ change, side }: { change: FileChange; side: Side }) {
  const { model = "", project = "" } = useParams({ strict: false });
  const file = change.now ?? change.before;
  return (
    file && (
      <Link
        className="link text-sm"
        to="/$project/$model/versions/$version"
        params={{ project, model, version: change.now ? side.now : side.before }}
        search={{ file: file.path }}
      >
        Source
        <span className="sr-only"> of {file.path}</span>
      </Link>
    )
  );
}

/** What can be said of files that are not shown. */
function Sizes({ change, side }: { change: FileChange; side: Side }) {
  const { model = "" } = useParams({ strict: false });
  const sides = [
    ["Before", side.before, change.before],
    ["Now", side.now, change.now],
  ] as const;
  return (
    <dl className="grid gap-1 px-4 py-3">
      {sides.map(
        ([name, version, file]) =>
          file && (
            <div key={name} className="flex flex-wrap gap-x-3">
              <dt className="w-16 text-soft">{name}</dt>
              <dd className="num">
                {bytes(file.size)}, not text or too large to show ·{" "}
                <a className="link underline" href={downloadOf(model, version, file.path)} download>
                  Download
                </a>
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}
