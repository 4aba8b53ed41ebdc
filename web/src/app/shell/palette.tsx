/** The command palette: Ctrl-K, a few letters, Enter. */
import { Dialog } from "radix-ui";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useReturnedFocus } from "~/ui/dialogs/returned-focus";
import { Icon, type IconName } from "~/ui/icons";
import { matching } from "./matching";

export interface Choice {
  id: string;
  label: string;
  group: string;
  icon: IconName;
  words?: string;
  run: () => void;
}

export function Palette({
  open,
  onOpenChange,
  choices,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  choices: readonly Choice[];
}) {
  const returnFocus = useReturnedFocus(open);
  useEffect(() => {
    function onKey(event: globalThis.KeyboardEvent) {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        onOpenChange(!open);
      }
    }
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [open, onOpenChange]);
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <div className="fixed inset-0 z-30 bg-[rgb(0_0_0/0.45)]" />
        <Dialog.Content
          aria-describedby={undefined}
          onCloseAutoFocus={returnFocus}
          className="fixed left-1/2 top-[10vh] z-40 w-[calc(100%-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-lg border border-line bg-surface shadow-xl"
        >
          <Dialog.Title className="sr-only">Search</Dialog.Title>
          <Finder choices={choices} close={() => onOpenChange(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

export function Finder({ choices, close }: { choices: readonly Choice[]; close: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const found = matching(typed, choices).slice(0, 60);
  const current = Math.min(at, found.length - 1);

  useEffect(() => {
    list.current
      ?.querySelector(`[data-place="${current}"]`)
      ?.scrollIntoView?.({ block: "nearest" });
  }, [current]);

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setAt((current + step + found.length) % Math.max(found.length, 1));
    } else if (event.key === "Enter") {
      event.preventDefault();
      pick(found[current]);
    }
  }
  function pick(choice: Choice | undefined) {
    if (!choice) return;
    close();
    choice.run();
  }

  return (
    <>
      <div className="flex items-center gap-2 border-b border-line px-4">
        <Icon name="search" className="text-soft" />
        <input
          className="h-12 min-w-0 flex-1 bg-transparent outline-none"
          placeholder="Find a model, a page or an action"
          role="combobox"
          aria-label="Search"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={found[current] ? `${id}-${found[current].id}` : undefined}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div
        ref={list}
        id={`${id}-list`}
        role="listbox"
        aria-label="Results"
        className="max-h-[50vh] overflow-y-auto p-1.5"
      >
        {found.map((choice, place) => (
          // The input keeps the focus and the arrow keys move through the list; this is for the mouse.
          // biome-ignore lint/a11y/useKeyWithClickEvents: see above
          <div
            key={choice.id}
            id={`${id}-${choice.id}`}
            data-place={place}
            role="option"
            tabIndex={-1}
            aria-selected={place === current}
            className={`flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-2 ${place === current ? "bg-hover" : ""}`}
            onMouseMove={() => setAt(place)}
            onClick={() => pick(choice)}
          >
            <Icon name={choice.icon} className="text-soft" />
            <span dir="auto" title={choice.label} className="min-w-0 flex-1 truncate">
              {choice.label}
            </span>
            <span className="text-xs text-soft">{choice.group}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="px-4 pb-4 text-soft">No matches.</p>}
    </>
  );
}
