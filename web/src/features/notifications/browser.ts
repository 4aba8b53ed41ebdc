/** The browser's own notifications: whether it allows them, why not, and showing one. */
import type { News } from "./news";

export type Permission = "granted" | "default" | "denied" | "insecure" | "missing";

export function permission(): Permission {
  if (!globalThis.isSecureContext) return "insecure";
  if (typeof Notification === "undefined") return "missing";
  return Notification.permission;
}

/** Why there are no notifications, and what to do. */
export const OBSTACLES: Record<Exclude<Permission, "granted" | "default">, string> = {
  denied:
    "Your browser blocks notifications of this site. Allow them in the site's settings, beside the address, then load this page again.",
  insecure:
    "Browsers allow notifications only over HTTPS or on the machine itself. Ask the operator of this server for an HTTPS address.",
  missing:
    "This browser has no notifications for pages. On an iPhone or iPad, add Tapeline to the home screen first.",
};

export async function allow(): Promise<Permission> {
  if (permission() === "default") await Notification.requestPermission();
  return permission();
}

/** By the service worker where there is one: phones know no other way. */
export async function show({ title, body, path, tag }: News): Promise<void> {
  if (permission() !== "granted") return;
  const options = { body, tag, icon: "/static/icon-192.png", data: path };
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  const registration = await workers?.getRegistration();
  if (registration?.active) await registration.showNotification(title, options);
  else
    new Notification(title, options).onclick = () => {
      window.focus();
      location.assign(path);
    };
}
