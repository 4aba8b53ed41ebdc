// Shows one page of its own while the server cannot be reached, and opens what a notification is
// about. It keeps that page and when the server last answered, and nothing else: no data, no answer
// of the API, no page of the app. The server writes SHELL and STAMP in front of this.
const NAME = `tapeline-${STAMP}`;
const SEEN = "/offline/last-answer";

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  const { origin, pathname } = new URL(request.url);
  if (request.mode === "navigate") event.respondWith(page(event));
  else if (origin === location.origin && SHELL.includes(pathname))
    event.respondWith(fetch(request).catch(() => caches.match(pathname)));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data));
});

async function install() {
  const cache = await caches.open(NAME);
  // Without cookies: these files are the same for everybody.
  await cache.addAll(SHELL.map((path) => new Request(path, { cache: "reload", credentials: "omit" })));
  await self.skipWaiting();
}

async function activate() {
  for (const name of await caches.keys()) if (name !== NAME) await caches.delete(name);
  await self.registration.navigationPreload?.enable();
  await self.clients.claim();
}

// Pages come from the server alone: a new build is there at the next load.
async function page(event) {
  try {
    const answer = (await event.preloadResponse) ?? (await fetch(event.request));
    const cache = await caches.open(NAME);
    await cache.put(SEEN, new Response(String(Date.now())));
    return answer;
  } catch {
    return (await caches.match("/offline")) ?? Response.error();
  }
}

async function show(path) {
  const address = new URL(path ?? "/", location.origin).href;
  const windows = await self.clients.matchAll({ type: "window" });
  const [open] = windows;
  if (!open) return self.clients.openWindow(address);
  await open.focus();
  // The app goes there by itself, without loading again.
  open.postMessage({ open: path });
}
