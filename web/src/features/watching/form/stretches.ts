/** The stretches of a preview as bands of a chart. Pure. */
import type { Schemas } from "~/api/client";

export type Stretch = Schemas["Firing"];

export interface Band {
  from: number;
  to: number;
  isFiring: boolean;
  subject: string;
}

/** First how long it was pending, then how long it would have fired; only what is in the range. */
export function bands(stretches: readonly Stretch[], since: number, now: number): Band[] {
  return stretches.flatMap(
    ({ began_at: began, fired_at: fired, resolved_at: resolved, subject }) => {
      const end = resolved ?? now;
      const parts: Band[] = [{ from: began, to: fired ?? end, isFiring: false, subject }];
      if (fired !== null) parts.push({ from: fired, to: end, isFiring: true, subject });
      return parts
        .map((one) => ({ ...one, from: Math.max(one.from, since), to: Math.min(one.to, now) }))
        .filter((one) => one.to > one.from || (one.isFiring && one.to === one.from));
    },
  );
}
