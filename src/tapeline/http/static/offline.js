// Says since when the server does not answer, and goes on as soon as it does.
const SEEN = "/offline/last-answer";
const EVERY = 5_000; // milliseconds
const dated = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

async function tell() {
  const why = document.getElementById("why");
  why.textContent = navigator.onLine
    ? "This device has a network, but the server does not answer."
    : "This device has no network.";
  const kept = await caches.match(SEEN);
  const at = Number(await kept?.text());
  const since = document.getElementById("since");
  since.textContent = at
    ? `The server last answered on ${dated.format(at)} (${lasting(Date.now() - at)} ago).`
    : "It is not known when the server last answered.";
}

function lasting(milliseconds) {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return "less than a minute";
  if (minutes < 60) return minutes === 1 ? "a minute" : `${minutes} minutes`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

async function tryAgain() {
  try {
    const { ok } = await fetch("/healthz", { cache: "no-store" });
    if (ok) location.reload();
  } catch {
    await tell();
  }
}

document.getElementById("again").addEventListener("click", tryAgain);
addEventListener("online", tryAgain);
addEventListener("offline", tell);
setInterval(tryAgain, EVERY);
tell();
