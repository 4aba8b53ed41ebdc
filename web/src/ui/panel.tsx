/** Panels, and the states their content can be in: empty, failed, loading. */
import type { ReactNode } from "react";
import { messageOf } from "~/api/problem";
import { Button } from "./button";
import { Icon } from "./icons";

export function Panel({
  title,
  note,
  aside,
  children,
  flush = false,
  className = "",
  id,
}: {
  /** By which other parts of the page find it. */
  id?: string;
  title?: ReactNode;
  /** What the title alone does not say. */
  note?: string;
  aside?: ReactNode;
  children: ReactNode;
  flush?: boolean;
  className?: string;
}) {
  return (
    <section id={id} className={`min-w-0 rounded-lg border border-line bg-surface ${className}`}>
      {title && (
        <div className="flex min-h-11 flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line px-4 py-1">
          <div className="flex flex-wrap items-baseline gap-x-2">
            <h2 className="text-base">{title}</h2>
            {note && <p className="text-sm text-soft">{note}</p>}
          </div>
          {aside}
        </div>
      )}
      <div className={flush ? "" : "p-4"}>{children}</div>
    </section>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="px-4 py-6 text-center">
      <p className="font-medium">{title}</p>
      {children && <div className="mx-auto mt-1 max-w-prose text-soft">{children}</div>}
    </div>
  );
}

export function Failed({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3 rounded-md bg-bad-ground px-4 py-3 text-bad"
    >
      <Icon name="warn" />
      <p className="min-w-0 flex-1">{messageOf(error)}</p>
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

export function Notice({
  tone,
  children,
}: {
  tone: "warn" | "good" | "bad" | "info";
  children: ReactNode;
}) {
  const tones = {
    warn: "bg-warn-ground text-warn",
    good: "bg-good-ground text-good",
    bad: "bg-bad-ground text-bad",
    info: "bg-accent-ground text-ink",
  };
  return <div className={`rounded-md px-4 py-2.5 ${tones[tone]}`}>{children}</div>;
}

export function Skeleton({ rows = 3 }: { rows?: number }) {
  return (
    <div role="status" className="grid gap-3 p-4">
      <span className="sr-only">Loading</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical and never move
        <div key={row} className="skeleton h-4" style={{ width: `${92 - ((row * 17) % 40)}%` }} />
      ))}
    </div>
  );
}

export function Fact({
  name,
  children,
  hint,
}: {
  name: string;
  children: ReactNode;
  hint?: string;
}) {
  return (
    <div className="min-w-0" title={hint}>
      <dt className="text-xs text-soft">{name}</dt>
      <dd dir="auto" className="num min-w-0 text-left [overflow-wrap:anywhere]">
        {children}
      </dd>
    </div>
  );
}

export function PageHead({
  title,
  lead,
  actions,
}: {
  /** Undefined while it loads. */
  title: ReactNode;
  /** Null while it loads. */
  lead?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <div className="mb-4 flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
      <div className="min-w-0">
        <h1 dir="auto" className="text-left text-xl [overflow-wrap:anywhere]">
          {title ?? <span className="skeleton inline-block h-6 w-40 align-bottom" />}
        </h1>
        {lead === null ? (
          <p className="skeleton h-5 w-40" />
        ) : (
          lead && <p className="text-soft [overflow-wrap:anywhere]">{lead}</p>
        )}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </div>
  );
}
