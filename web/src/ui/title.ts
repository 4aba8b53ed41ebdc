import { useEffect } from "react";

/** The page's title in the browser tab and the history. */
export function useTitle(...parts: (string | undefined)[]): void {
  const title = [...parts.filter(Boolean), "Tapeline"].join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
}
