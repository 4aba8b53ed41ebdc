/** The versions that a dialog offers, and the one that a start without a choice would run. */
import type { Run, Version } from "~/api/queries";

export interface Offered {
  id: string;
  version: number;
  description: string;
  /** Not known of a version that is older than the loaded ones. */
  createdAt: number | null;
}

type Known = Pick<Version, "version_id" | "version" | "description" | "created_at">;
type Last = Pick<Run, "version_id" | "version">;

export function offered(
  known: readonly Known[],
  last: Last | null,
): { choices: Offered[]; usual: string | null } {
  const choices: Offered[] = known.map((one) => ({
    id: one.version_id,
    version: one.version,
    description: one.description,
    createdAt: one.created_at,
  }));
  const usual = last?.version_id ?? choices[0]?.id ?? null;
  const isListed = choices.some(({ id }) => id === usual);
  if (last && last.version !== null && !isListed)
    choices.push({ id: last.version_id, version: last.version, description: "", createdAt: null });
  return { choices, usual };
}
