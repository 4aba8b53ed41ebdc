/** The address is the view: filters, searches and sortings live in it, so that a link shows the same
 * and the way back restores it. */
import {
  parseSearchWith,
  stringifySearchWith,
  useNavigate,
  useSearch,
} from "@tanstack/react-router";
import { useCallback, useEffect } from "react";

export type View<Name extends string> = Partial<Record<Name, string>>;

/** For the router: an address holds texts and numbers as they are. Its own way would read them as JSON,
 * and write the text 2 as `%222%22`. */
export const readSearch = parseSearchWith((text) => text);
const encoded = stringifySearchWith(JSON.stringify);
/** Characters that a query may hold as they are. */
const PLAIN = /%(?:2C|2F|3A|40)/g;

export function writeSearch(search: Record<string, unknown>): string {
  return encoded(search).replace(PLAIN, decodeURIComponent);
}

/** For the router: the texts of these names, and nothing else that an address may hold. */
export function texts<Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): View<Name> => {
    const view: View<Name> = {};
    for (const name of names) {
      const value = search[name];
      // The router reads a typed number as one.
      if (value !== undefined && value !== null && value !== "" && typeof value !== "object")
        view[name] = String(value);
    }
    return view;
  };
}

/**
 * The view, and how to change it. A choice is a step that the way back undoes; what is typed letter
 * by letter replaces the address instead. An empty text is left out.
 */
export function useView<Name extends string>(): [
  View<Name>,
  (change: View<Name>, how?: "step" | "typed") => void,
] {
  // The route has validated it: every page that uses this names its texts in the router.
  const search: object = useSearch({ strict: false });
  const view = search as View<Name>;
  const navigate = useNavigate();
  const change = useCallback(
    (wanted: View<Name>, how: "step" | "typed" = "step") =>
      void navigate({
        to: ".",
        search: (before: Record<string, unknown>) => changed(before, wanted),
        replace: how === "typed",
        resetScroll: false,
      }),
    [navigate],
  );
  return [view, change];
}

export function changed(
  before: Record<string, unknown>,
  wanted: Record<string, string | undefined>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries({ ...before, ...wanted }).filter(([, value]) => value !== "" && value != null),
  );
}

/**
 * The page's title in the browser tab and the history, the most particular part first. Without parts
 * it leaves the title to a page inside.
 */
export function useTitle(...parts: (string | undefined)[]): void {
  const title = [...parts.filter(Boolean), "Tapeline"].join(" · ");
  const isOurs = parts.length > 0;
  useEffect(() => {
    if (isOurs) document.title = title;
  }, [title, isOurs]);
}
