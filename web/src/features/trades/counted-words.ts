/** Which round trips the figures count: amounts in different currencies are never added up. */
import { integer, plural } from "~/format/numbers";

/** Empty if they count all of them. */
export function countedWords(
  byCurrency: Readonly<Record<string, number>>,
  currency: string | null,
): string {
  const every = Object.values(byCurrency).reduce((sum, one) => sum + one, 0);
  const counted = (currency !== null && byCurrency[currency]) || 0;
  if (counted === every) return "";
  const others = Object.entries(byCurrency)
    .filter(([name]) => name !== currency)
    .toSorted(([, one], [, other]) => other - one)
    .map(([name, count]) => `${integer(count)} in ${name}`)
    .join(", ");
  const rest = `the list has ${others}${counted ? " too" : ""}; choose a symbol there for its own figures.`;
  return counted
    ? `The figures count ${integer(counted)} of ${plural(every, "round trip")}, those in ${currency}: ${rest}`
    : `There are no figures, for no round trip is in ${currency ?? "the account's currency"}: ${rest}`;
}
