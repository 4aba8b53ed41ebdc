/** The state of a model as a dot and a word; the dot's shape differs too, not only its colour. */
import type { Status, Tone } from "./status";

const DOTS: Record<Tone, string> = {
  good: "rounded-full bg-good",
  busy: "rounded-full border-2 border-warn animate-pulse",
  warn: "rotate-45 border-2 border-warn",
  bad: "rotate-45 bg-bad",
  idle: "rounded-full border-2 border-edge",
};
const TEXTS: Record<Tone, string> = {
  good: "text-good",
  busy: "text-warn",
  warn: "text-warn",
  bad: "text-bad",
  idle: "text-soft",
};

export function StatusDot({ tone }: { tone: Tone }) {
  return <span aria-hidden="true" className={`inline-block size-2 shrink-0 ${DOTS[tone]}`} />;
}

export function StatusBadge({ status }: { status: Status }) {
  return (
    <span
      className={`inline-flex max-w-full min-w-0 items-center gap-2 font-medium ${TEXTS[status.tone]}`}
      title={status.detail ? `${status.label}: ${status.detail}` : status.label}
    >
      <StatusDot tone={status.tone} />
      <span className="truncate">{status.label}</span>
    </span>
  );
}
