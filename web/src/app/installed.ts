/** Registers the service worker, which makes the app installable and has a page for no connection. */
export function register(open: (path: string) => void): void {
  // Browsers have none on plain HTTP, except on this machine itself.
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  if (!workers || !import.meta.env.PROD) return;
  addEventListener("load", () => {
    void workers
      .register("/service-worker.js", { updateViaCache: "none" })
      // A browser may refuse it, in private windows for example; the app works without.
      .catch(() => undefined);
  });
  workers.addEventListener("message", ({ data }: MessageEvent<{ open?: unknown }>) => {
    if (typeof data.open === "string" && data.open.startsWith("/")) open(data.open);
  });
}
