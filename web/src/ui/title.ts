import { useEffect } from "react";

/** What the browser's tab and the history call a page. */
export function useTitle(...parts: (string | undefined)[]): void {
  const title = [...parts.filter(Boolean), "Tapeline"].join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
}
