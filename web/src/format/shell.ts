/** Commands to copy must be safe to paste: a dollar is a variable and a quote ends a text. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}
