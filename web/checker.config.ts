import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const PAGE = "checker.html";
const SCRIPT = /<script type="module"[^>]*><\/script>\n?/;
const STYLES = /<link rel="stylesheet"[^>]*>\n?/g;

/**
 * The checker as one file that can be saved: script, worker, WebAssembly and styles are in it, and
 * so is the policy, which allows nothing else. The same sources give the same bytes, so that its
 * hash can be published.
 */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle[PAGE];
      if (page?.type !== "asset") throw new Error("The checker has no page.");
      const [scripts, styles] = [[] as string[], [] as string[]];
      for (const [name, part] of Object.entries(bundle)) {
        if (part === page) continue;
        if (part.type === "chunk") scripts.push(part.code);
        else if (name.endsWith(".css")) styles.push(String(part.source));
        delete bundle[name];
      }
      // A closing tag in a script would end it.
      const script = scripts.join("").replaceAll("</script", "<\\/script").trim();
      const style = styles.join("").trim();
      page.source = String(page.source)
        .replace(SCRIPT, "")
        .replace(STYLES, "")
        .replace("<title>", () => `${policy(script, style)}\n<title>`)
        .replace("</head>", () => `<style>${style}</style>\n</head>`)
        .replace("</body>", () => `<script type="module">${script}</script>\n</body>`);
    },
  };
}

/** Whatever address a reader names may be asked; nothing else is loaded, sent or framed. */
function policy(script: string, style: string): string {
  const rules = [
    "default-src 'none'",
    `script-src '${hashOf(script)}' 'wasm-unsafe-eval'`,
    `style-src '${hashOf(style)}'`,
    "worker-src blob:",
    "img-src data:",
    "connect-src 'self' https: http:",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<meta http-equiv="Content-Security-Policy" content="${rules.join("; ")}">`;
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

export const config = defineConfig({
  base: "./",
  plugins: [oneFile()],
  worker: { format: "iife" },
  build: {
    emptyOutDir: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    rolldownOptions: { input: fileURLToPath(new URL(PAGE, import.meta.url)) },
    target: "es2022",
  },
});

// Vite itself asks for a default export; nothing of ours does.
export { config as default };
