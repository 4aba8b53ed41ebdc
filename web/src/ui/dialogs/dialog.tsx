/**
 * Dialogs. Radix keeps the focus inside; we return it afterwards. The veil is ours, because the one
 * of Radix writes a style element, which our policy refuses.
 */
import { AlertDialog, Dialog as Base } from "radix-ui";
import { type ReactNode, useState } from "react";
import { messageOf } from "~/api/problem";
import { Button, IconButton } from "../button";
import { useReturnedFocus } from "./returned-focus";

const BOX =
  "fixed left-1/2 top-[12vh] max-h-[80vh] w-[calc(100%-2rem)] max-w-lg -translate-x-1/2 overflow-y-auto rounded-lg border border-line bg-surface p-5 shadow-xl";

/** A confirmation may open on top of a dialog, so its veil lies above that dialog. */
function Veil({ above = false }: { above?: boolean }) {
  return <div className={`fixed inset-0 bg-[rgb(0_0_0/0.45)] ${above ? "z-40" : "z-30"}`} />;
}

export function Dialog({
  open,
  onOpenChange,
  title,
  children,
  wide = false,
  huge = false,
  keep = false,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  children: ReactNode;
  wide?: boolean;
  /** For content that needs most of the screen. */
  huge?: boolean;
  /** Only a button closes it: neither Escape nor a click beside it loses what is shown once. */
  keep?: boolean;
}) {
  const returnFocus = useReturnedFocus(open);
  const size = huge
    ? "!top-[4vh] !max-h-[92vh] sm:max-w-[min(76rem,calc(100%-3rem))]"
    : wide
      ? "sm:max-w-2xl"
      : "";
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Veil />
        <Base.Content
          aria-describedby={undefined}
          className={`${BOX} z-40 ${size}`}
          onCloseAutoFocus={returnFocus}
          onEscapeKeyDown={(event) => keep && event.preventDefault()}
          onInteractOutside={(event) => keep && event.preventDefault()}
        >
          <div className="mb-3 flex items-start justify-between gap-4">
            <Base.Title className="min-w-0 text-lg [overflow-wrap:anywhere]">{title}</Base.Title>
            <Base.Close asChild>
              <IconButton label="Close" icon="close" className="-mt-1 -mr-2" />
            </Base.Close>
          </div>
          {children}
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}

/** Asks for confirmation. If the action fails, it stays open and shows why. */
export function Confirm({
  open,
  onOpenChange,
  title,
  action,
  danger = false,
  ready = true,
  children,
  act,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  action: string;
  danger?: boolean;
  /** False while the dialog still loads what it asks about. */
  ready?: boolean;
  children: ReactNode;
  act: () => Promise<unknown>;
}) {
  const returnFocus = useReturnedFocus(open);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function go() {
    setBusy(true);
    setError(null);
    try {
      await act();
      onOpenChange(false);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  }
  return (
    <AlertDialog.Root open={open} onOpenChange={onOpenChange}>
      <AlertDialog.Portal>
        <Veil above />
        <AlertDialog.Content
          aria-modal="true"
          className={`${BOX} z-50`}
          onCloseAutoFocus={returnFocus}
        >
          <AlertDialog.Title className="text-lg">{title}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="mt-2 text-soft [overflow-wrap:anywhere]">{children}</div>
          </AlertDialog.Description>
          {error !== null && (
            <p role="alert" className="mt-3 rounded-md bg-bad-ground px-3 py-2 text-bad">
              {messageOf(error)}
            </p>
          )}
          <div className="mt-5 flex flex-wrap justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <Button
              weight={danger ? "danger" : "main"}
              disabled={busy || !ready}
              onClick={() => void go()}
            >
              {busy ? "Please wait…" : action}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
