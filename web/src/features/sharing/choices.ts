/** The choices of a link, as form fields and as a request. */
import type { Schemas } from "~/api/client";
import { plural } from "~/format/numbers";
import { fromLocal } from "~/format/times";

export type Share = Schemas["ShownShare"];
export type Made = Schemas["CreatedShare"];
type NewShare = Schemas["NewShare"];

/** Fields hold text as typed, so that a half-typed number is not lost. */
export interface Draft {
  title: string;
  percent_only: boolean;
  hide_symbols: boolean;
  hide_logs: boolean;
  delay: string;
  base: string;
  password: string;
  expiry: Expiry;
  until: string;
}

export type Expiry = "never" | "day" | "week" | "month" | "until" | "kept";

export const EMPTY: Draft = {
  title: "",
  percent_only: false,
  hide_symbols: false,
  hide_logs: false,
  delay: "0",
  base: "",
  password: "",
  expiry: "never",
  until: "",
};

export type Toggle = "percent_only" | "hide_symbols" | "hide_logs";

export const TOGGLES: readonly [Toggle, string, string][] = [
  [
    "percent_only",
    "Percent only",
    "Hides money amounts and order sizes. Curves start at 100 if the capital is known; otherwise they are an index, on which the lowest and the highest value are 100 apart.",
  ],
  [
    "hide_symbols",
    "Hide symbols",
    "Symbols are shown as S1, S2, …. Prices and sizes are hidden too, because they could reveal the symbols.",
  ],
  [
    "hide_logs",
    "Hide logs and annotations",
    "The two options above also hide them, because free text could reveal what they hide.",
  ],
];

const DAY = 86_400;
const SPANS: Partial<Record<Expiry, number>> = { day: DAY, week: 7 * DAY, month: 30 * DAY };
const MOST_HOURS = 24 * 365;

/** Errors in the form, by field. */
export function errorsIn(draft: Draft): { delay?: string; base?: string; until?: string } {
  const found: { delay?: string; base?: string; until?: string } = {};
  const hours = Number(draft.delay || "0");
  if (!Number.isInteger(hours) || hours < 0 || hours > MOST_HOURS)
    found.delay = `Enter whole hours, at most ${MOST_HOURS}.`;
  if (draft.base.trim() && !(capital(draft) !== null)) found.base = "Enter an amount above zero.";
  if (draft.expiry === "until") {
    const until = fromLocal(draft.until);
    if (until === null || until * 1000 <= Date.now()) found.until = "Enter a time in the future.";
  }
  return found;
}

/** Only the choices, for a preview and for a link. The server's `hide_sizes` means the same as
 * `percent_only`, so the form has only one of the two. */
export function chosen(draft: Draft, backtest: string | null) {
  return {
    percent_only: draft.percent_only,
    hide_symbols: draft.hide_symbols,
    hide_sizes: false,
    hide_logs: draft.hide_logs,
    delay_hours: Number(draft.delay || "0"),
    base: backtest === null ? capital(draft) : null,
    title: draft.title.trim() || null,
  };
}

export function bodyOf(draft: Draft, backtest: string | null, now = Date.now() / 1000): NewShare {
  return {
    ...chosen(draft, backtest),
    backtest_id: backtest,
    password: draft.password || null,
    expires_at: expiryOf(draft, now) ?? null,
  };
}

/** Undefined leaves it unchanged. */
export function expiryOf(draft: Draft, now: number): number | null | undefined {
  if (draft.expiry === "kept") return undefined;
  if (draft.expiry === "until") return fromLocal(draft.until);
  const span = SPANS[draft.expiry];
  return span === undefined ? null : now + span;
}

/** The address of a preview, before the link exists. */
export function previewOf(model: string, draft: Draft, backtest: string | null): string {
  const said = Object.entries({ ...chosen(draft, backtest), backtest_id: backtest });
  const query = new URLSearchParams(
    said
      .filter(([, value]) => value !== null && value !== false && value !== 0)
      .map(([name, value]) => [name, String(value)]),
  );
  return `/api/models/${model}/shares/preview?${query}`;
}

export function draftOf(share: Share): Draft {
  return {
    ...EMPTY,
    title: share.title ?? "",
    percent_only: share.percent_only || share.hide_sizes,
    hide_symbols: share.hide_symbols,
    hide_logs: share.hide_logs,
    delay: String(share.delay_hours),
    base: share.base === null ? "" : String(share.base),
    expiry: "kept",
  };
}

/** What a link hides, in a few words. */
export function restrictionsOf(share: Share): string {
  const said = [
    share.percent_only || share.hide_sizes ? "percent only" : "",
    share.hide_symbols ? "no symbols" : "",
    share.hide_logs ? "no logs" : "",
    share.delay_hours ? `${plural(share.delay_hours, "hour")} late` : "",
    share.has_password ? "with a password" : "",
  ].filter(Boolean);
  return said.length ? said.join(", ") : "shows everything";
}

/** The HTML snippet for other sites. The title is user text inside an attribute, so it is escaped. */
export function embedOf(made: Made): string {
  const title = (made.title ?? "A record kept by Tapeline")
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;");
  return `<iframe src="${made.embed_url}" title="${title}" width="100%" height="480" loading="lazy" style="border: 0"></iframe>`;
}

function capital(draft: Draft): number | null {
  const value = Number(draft.base.replaceAll(",", ""));
  return draft.base.trim() && Number.isFinite(value) && value > 0 ? value : null;
}
