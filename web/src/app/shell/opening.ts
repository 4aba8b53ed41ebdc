/** Marks a page that opens. Meanwhile styles.css hides all that is below a part which still loads: people do not
 * see it move when that part gets its size. */
import { useRouterState } from "@tanstack/react-router";
import { type RefObject, useLayoutEffect } from "react";

/** Milliseconds. A slow part keeps the others unseen for no longer. */
const LONGEST = 1_500;

export function useOpening(place: RefObject<HTMLElement | null>): void {
  const path = useRouterState({ select: (state) => state.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another path is another page
  useLayoutEffect(() => {
    const page = place.current;
    if (!page) return;
    page.dataset.opening = "yes";
    const timer = setTimeout(() => delete page.dataset.opening, LONGEST);
    return () => clearTimeout(timer);
  }, [path, place]);
}
