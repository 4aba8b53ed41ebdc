/** How a table whose columns are not known before shares its width between them, by what they hold. */
import type { From } from "~/ui/tables/stacked-table";

/** Letters: a number is never broken, a sentence is. */
const [LEAST, MOST, MOST_OF_NAME] = [4, 24, 12];
const REM_OF_LETTER = 0.5;
const WIDTHS: readonly From[] = ["36rem", "48rem", "60rem", "84rem"];

/** The share of each column, and from which width of the table on there is room for a row. */
export function placed(
  columns: readonly (readonly string[])[],
  names: readonly string[],
): { from: From; widths: number[] } {
  const widths = columns.map((texts, place) => {
    const longest = Math.max(0, ...texts.map((text) => text.length));
    const name = Math.min(names[place]?.length ?? 0, MOST_OF_NAME);
    return Math.min(MOST, Math.max(LEAST, longest, name));
  });
  const needed = widths.reduce((sum, width) => sum + width * REM_OF_LETTER + 1, 1);
  const from = WIDTHS.find((width) => needed <= Number.parseInt(width, 10)) ?? "84rem";
  return { from, widths };
}
