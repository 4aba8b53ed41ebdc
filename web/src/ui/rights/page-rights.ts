/** Pages that not every role gets: the router, the sidebar and the search keep to this list. */
import type { Right } from "./allowed";

export const PAGE_RIGHTS = {
  deploy: "change_models",
  keys: "use_keys",
  audit: "manage",
  /** The source of versions. */
  source: "change_models",
  connect: "change_models",
  /** The form of a rule. */
  rule: "change_models",
} as const satisfies Record<string, Right>;

export function rightFor(page: string): Right {
  return (PAGE_RIGHTS as Record<string, Right>)[page] ?? "see";
}
