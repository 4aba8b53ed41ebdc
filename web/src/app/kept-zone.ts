/** The chosen time zone between visits: a cookie, which the server's own pages read too. */
import { isZone, setZone, type Zone } from "~/format/zone";

const NAME = "tapeline_zone";
const YEAR = 365 * 86_400;

/** The zone of an address wins over the one that was chosen before. */
export function zoneFor(search: unknown, cookies: string): Zone {
  if (isZone(search)) return search;
  const kept = cookies.split("; ").find((one) => one.startsWith(`${NAME}=`));
  const name = decodeURIComponent(kept?.slice(NAME.length + 1) ?? "");
  return isZone(name) ? name : "local";
}

export function keepZone(next: Zone): void {
  const age = next === "local" ? 0 : YEAR;
  // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser yet
  document.cookie = `${NAME}=${encodeURIComponent(next)}; path=/; max-age=${age}; samesite=lax`;
  setZone(next);
}
