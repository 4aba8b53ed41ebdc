/**
 * Remembers when the server last answered, for the page that shows while it does not. Only the time
 * is kept: no answer is ever stored in the browser.
 */
const SEEN = "/offline/last-answer";
const EVERY = 10_000; // milliseconds
let notedAt = 0;

export function noteAnswer(now = Date.now()): void {
  if (typeof caches === "undefined" || now - notedAt < EVERY) return;
  notedAt = now;
  void keep(now).catch(() => undefined); // without storage, that page says that it does not know
}

/** Only where the service worker has made a place for it: after sign-out there is none. */
async function keep(now: number): Promise<void> {
  const [name] = (await caches.keys()).filter((one) => one.startsWith("tapeline-"));
  if (!name) return;
  const cache = await caches.open(name);
  await cache.put(SEEN, new Response(String(now)));
}
