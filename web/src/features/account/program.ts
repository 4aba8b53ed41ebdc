/** A readable name for the program behind a sign-in. */
const BROWSERS: [RegExp, string][] = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/Chrome\//, "Chrome"],
  [/Safari\//, "Safari"],
];
const SYSTEMS: [RegExp, string][] = [
  [/Windows/, "Windows"],
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
];

export function program(kind: string, agent: string): string {
  const browser = BROWSERS.find(([pattern]) => pattern.test(agent))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(agent))?.[1];
  const seen = browser ? (system ? `${browser} on ${system}` : browser) : "";
  if (kind === "browser") return seen || "Unknown browser";
  if (seen) return `Command line, approved in ${seen}`;
  return agent.split("/")[0]?.slice(0, 40) || "Unknown program";
}
