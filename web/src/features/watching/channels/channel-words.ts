/** When a channel waits, in words, and the fields of its form. Pure. */
import type { Channel } from "../queries";

export const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
export type Every = "" | "hour" | "day";

export interface ChannelDraft {
  name: string;
  /** Empty for a channel that keeps its own: nobody can read it back. */
  address: string;
  quiet: boolean;
  from: string;
  to: string;
  zone: string;
  every: Every;
  at: string;
}

export function draftOf(channel: Channel | null, zone: string): ChannelDraft {
  const { quiet, digest } = channel ?? { quiet: null, digest: null };
  return {
    name: channel?.name ?? "",
    address: "",
    quiet: quiet !== null,
    from: text(quiet, "from", "22:00"),
    to: text(quiet, "to", "07:00"),
    zone: text(quiet, "zone", text(digest, "zone", zone)),
    every: (digest?.every as Every | undefined) ?? "",
    at: text(digest, "at", "08:00"),
  };
}

export function bodyOf(draft: ChannelDraft, channel: Channel | null) {
  const { zone } = draft;
  return {
    name: draft.name.trim(),
    // Days that were chosen elsewhere stay.
    quiet: draft.quiet
      ? { ...(channel?.quiet ?? { days: DAYS }), zone, from: draft.from, to: draft.to }
      : null,
    digest:
      draft.every === "day"
        ? { every: "day", at: draft.at, zone }
        : draft.every === "hour"
          ? { every: "hour" }
          : null,
  };
}

/** Null: it tells at once, always. */
export function holding({ quiet, digest }: Channel): string | null {
  const said = [];
  if (quiet)
    said.push(
      `Quiet from ${text(quiet, "from", "00:00")} to ${text(quiet, "to", "24:00")} (${text(quiet, "zone", "UTC")}), but for what is critical`,
    );
  if (digest)
    said.push(
      digest.every === "day"
        ? `one digest a day at ${text(digest, "at", "")} (${text(digest, "zone", "UTC")})`
        : "one digest an hour",
    );
  return said.length ? `${said.join("; ")}.` : null;
}

function text(from: Record<string, unknown> | null, name: string, otherwise: string): string {
  const found = from?.[name];
  return typeof found === "string" ? found : otherwise;
}
