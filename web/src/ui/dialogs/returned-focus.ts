/** Gives the focus back when a dialog closes. Radix does so only for dialogs with a trigger of their own. */
import { useInsertionEffect, useRef } from "react";

/** The handler for `onCloseAutoFocus` of a dialog that is open or not. */
export function useReturnedFocus(open: boolean): (event: Event) => void {
  const opener = useRef<Element | null>(null);
  // Before the dialog is in the document: a field in it may take the focus at once.
  useInsertionEffect(() => {
    if (open) opener.current = focusedForLong();
  }, [open]);
  return (event) => {
    event.preventDefault();
    giveTo(opener.current);
  };
}

/** The focused element; for an item of a menu, which closes with it, the button of that menu. */
function focusedForLong(): Element | null {
  const focused = document.activeElement;
  const button = focused?.closest('[role="menu"]')?.getAttribute("aria-labelledby");
  return button ? document.getElementById(button) : focused;
}

function giveTo(opener: Element | null): void {
  if (!isLost()) return; // a new page or another dialog has taken it
  focus(opener);
  // The opener may be gone or disabled by what the dialog did.
  if (isLost()) focus(document.querySelector('[role="dialog"][data-state="open"]'));
  if (isLost()) focus(document.querySelector("main"));
}

function isLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

function focus(element: Element | null): void {
  if (element instanceof HTMLElement) element.focus({ preventScroll: true });
}
