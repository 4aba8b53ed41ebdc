import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The server that `tapeline up` runs beside `make web`.
const server = process.env.TAPELINE_DEV_SERVER ?? "http://127.0.0.1:8700";
const proxied = ["/api", "/auth", "/project", "/model", "/static", "/deploy", "/settings", "/time"];

export const config = defineConfig({
  base: "/app/",
  plugins: [react(), tailwindcss()],
  resolve: { alias: { "~": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    manifest: "manifest.json",
    // The policy of the shell refuses data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // The app, and the little that makes the pages of shared links live.
      input: {
        app: fileURLToPath(new URL("./index.html", import.meta.url)),
        shared: fileURLToPath(new URL("./src/shared-page/main.ts", import.meta.url)),
      },
    },
    target: "es2022",
    chunkSizeWarningLimit: 1000,
  },
  server: {
    proxy: Object.fromEntries(proxied.map((path) => [path, { target: server }])),
  },
  test: {
    // Components say for themselves that they need a page.
    environment: "node",
    setupFiles: ["src/testing/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}"],
    // One page for all of them, cleaned after each: a page per file takes five times as long.
    isolate: false,
    // A busy machine is no failure.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

// Vite itself asks for a default export; nothing of ours does.
export { config as default };
