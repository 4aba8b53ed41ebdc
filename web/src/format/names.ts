/** The order of names for people: "Grid 2" comes before "Grid 10". */
const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

export function byName(one: string, other: string): number {
  return order.compare(one, other);
}
