/** A box to tick, with its label. */
import type { ReactNode } from "react";

export function CheckField({
  label,
  checked,
  choose,
  disabled = false,
}: {
  label: ReactNode;
  checked: boolean;
  choose: (wanted: boolean) => void;
  disabled?: boolean;
}) {
  return (
    <label className="flex min-h-8 items-center gap-2 has-disabled:opacity-50">
      <input
        type="checkbox"
        className="size-4 shrink-0 accent-[var(--accent)]"
        checked={checked}
        disabled={disabled}
        onChange={(event) => choose(event.target.checked)}
      />
      <span className="min-w-0 [overflow-wrap:anywhere]">{label}</span>
    </label>
  );
}
