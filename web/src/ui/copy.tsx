/** Text to copy: commands, keys, links. */
import { useState } from "react";
import { IconButton } from "./button";
import { notify } from "./toasts";

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 2_000);
    } catch {
      notify({
        tone: "bad",
        text: "The browser did not allow copying. Select the text and copy it yourself.",
      });
    }
  }
  return (
    <>
      <IconButton label={label} icon={done ? "check" : "copy"} onClick={() => void copy()} />
      <span role="status" className="sr-only">
        {done ? "Copied" : ""}
      </span>
    </>
  );
}

export function Command({
  text,
  label,
  wraps = false,
}: {
  text: string;
  label: string;
  /** For one long word that should be seen in full, for example an address. */
  wraps?: boolean;
}) {
  const lines = wraps ? "whitespace-pre-wrap [overflow-wrap:anywhere]" : "overflow-x-auto";
  return (
    <div className="flex min-w-0 items-start gap-1 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
      <pre
        tabIndex={0}
        aria-label={label}
        className={`min-w-0 flex-1 py-1.5 font-mono text-xs leading-relaxed ${lines}`}
      >
        {text}
      </pre>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  );
}
