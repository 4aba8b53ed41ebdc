/** Reads a typed amount of capital. */

export interface Capital {
  amount: number;
  currency: string;
}

/** Null if there is none. Groups of digits may be apart, by a space, a comma or an apostrophe. */
export function capitalOf(amount: string, currency: string): Capital | null {
  const typed = amount.trim();
  if (!typed) return null;
  const plain = typed.replace(/[\s'_\u2019](?=\d{3})/g, "").replace(/,(?=\d{3}(?:[,.]|$))/g, "");
  const value = /^\d*\.?\d+(?:e\d+)?$/i.test(plain) ? Number(plain) : Number.NaN;
  if (!(value > 0)) throw new Error("Give an amount above zero, such as 10000 or 2500.50.");
  if (!currency.trim()) throw new Error("Name the currency of the capital, such as USD.");
  return { amount: value, currency: currency.trim() };
}
