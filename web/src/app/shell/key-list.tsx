/** Listens to the keys that work everywhere, and shows them in a dialog. */
import { useEffect, useRef, useState } from "react";
import { Dialog } from "~/ui/dialogs/dialog";
import { meaning, rows, tabsOf } from "./keys";
import type { Choice } from "./palette";

const FIELDS = "input, textarea, select, [contenteditable], [role=combobox]";

export function KeyList({ choices, search }: { choices: readonly Choice[]; search: () => void }) {
  const [open, setOpen] = useState(false);
  const goneAt = useRef<number | null>(null);

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      // Letters that a chart, a menu or a dialog understands are theirs.
      if (event.defaultPrevented || document.querySelector("[role=dialog], [role=menu]")) return;
      const target = event.target instanceof Element ? event.target : null;
      const press = {
        key: event.key,
        held: event.ctrlKey || event.metaKey || event.altKey,
        writing: Boolean(target?.closest(FIELDS)),
        at: event.timeStamp,
      };
      const meant = meaning(press, goneAt.current, tabsOf(choices));
      goneAt.current = meant.is === "begin" ? press.at : null;
      if (meant.is === "nothing") return;
      event.preventDefault();
      if (meant.is === "search") search();
      else if (meant.is === "help") setOpen(true);
      else if (meant.is === "run") choices.find(({ id }) => id === meant.id)?.run();
    }
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [choices, search]);

  const has = (id: string) => choices.some((choice) => choice.id === id);
  return (
    <Dialog open={open} onOpenChange={setOpen} title="Keys">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2">
        {rows(has, tabsOf(choices)).map(({ keys, does }) => (
          <div key={keys.join(" ")} className="contents">
            <dt className="flex gap-1">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="num min-w-7 rounded-sm border border-line bg-ground px-1.5 text-center text-sm uppercase"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
