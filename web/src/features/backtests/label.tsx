/** A backtest's label, edited in place. Enter saves, Escape cancels. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { messageOf } from "~/api/problem";
import { change } from "./queries";
import { refresh } from "./use-updates";

const LONGEST = 120;

export function Label({
  model,
  id,
  label,
  name,
  mayChange,
}: {
  model: string;
  id: string;
  label: string | null;
  /** The backtest's name, for the accessible name of the button. */
  name: string;
  mayChange: boolean;
}) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState<string | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const given = useRef(false);
  const { mutate, isPending, variables, error, reset } = useMutation({
    meta: { shown: true },
    mutationFn: (text: string) => change(model, id, { label: text || null }),
    onSuccess: () => refresh(queries, model, id),
  });

  function done(keep: boolean) {
    if (given.current) return;
    given.current = true;
    const text = (typed ?? "").trim();
    setTyped(null);
    if (keep && text !== (label ?? "")) mutate(text);
    requestAnimationFrame(() => button.current?.focus());
  }

  const shown = isPending ? variables : label;
  if (!mayChange) return shown ? <Tag>{shown}</Tag> : null;
  if (typed !== null) {
    return (
      <input
        // biome-ignore lint/a11y/noAutofocus: the user pressed the button in order to type
        autoFocus
        aria-label={`Label of ${name}`}
        className="field !min-h-7 max-w-52 !py-0 text-sm"
        maxLength={LONGEST}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => done(true)}
        onKeyDown={(event) => {
          if (event.key === "Enter") done(true);
          if (event.key === "Escape") done(false);
        }}
      />
    );
  }
  return (
    <span className="inline-flex min-w-0 flex-wrap items-center gap-x-2">
      <button
        ref={button}
        type="button"
        aria-label={shown ? `Change the label ${shown}` : `Add a label to ${name}`}
        className="inline-flex min-h-6 min-w-0 max-w-full items-center rounded-md text-left hover:bg-hover"
        onClick={() => {
          reset();
          given.current = false;
          setTyped(label ?? "");
        }}
      >
        {shown ? <Tag>{shown}</Tag> : <span className="px-1 text-sm text-soft">+ label</span>}
      </button>
      {error && (
        <span role="alert" className="text-sm text-bad">
          {messageOf(error)}
        </span>
      )}
    </span>
  );
}

function Tag({ children }: { children: string }) {
  return (
    <span className="inline-block max-w-full truncate rounded-md bg-accent-ground px-2 py-0.5 text-sm text-ink">
      {children}
    </span>
  );
}
