/** The time zones of exchanges whose trading day is not that of UTC. */

const ZONES: Readonly<Record<string, readonly string[]>> = {
  "America/New_York": ["nyse", "nasdaq", "arca", "amex", "bats", "iex", "alpaca", "schwab"],
  "America/Chicago": ["cme", "cbot", "cboe", "nymex", "comex"],
  "America/Toronto": ["tsx", "tsxv"],
  "America/Sao_Paulo": ["b3", "bovespa"],
  "Europe/London": ["lse", "ice"],
  "Europe/Berlin": ["xetra", "eurex", "fse"],
  "Europe/Paris": ["euronext", "epa"],
  "Europe/Zurich": ["six"],
  "Europe/Stockholm": ["omx"],
  "Asia/Tokyo": ["tse", "jpx", "ose"],
  "Asia/Hong_Kong": ["hkex", "hkfe"],
  "Asia/Shanghai": ["sse", "szse"],
  "Asia/Kolkata": ["nse", "bse", "zerodha"],
  "Asia/Seoul": ["krx", "kospi"],
  "Asia/Singapore": ["sgx"],
  "Australia/Sydney": ["asx"],
};

/** Null where it is unknown, and for exchanges of crypto currencies, whose day is that of UTC. */
export function zoneOfExchange(name: string): string | null {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  return Object.entries(ZONES).find(([, names]) => names.includes(plain))?.[0] ?? null;
}

/** The zone that all known exchanges of a model share. */
export function zoneOfExchanges(names: readonly string[]): string | null {
  const zones = new Set(names.map(zoneOfExchange).filter((one) => one !== null));
  const [only] = zones;
  return zones.size === 1 && only ? only : null;
}
