/** Reports that came after the fact: the newest of them, and how many there are in all. */

export const LISTED = 20;
export const LATE_AFTER = 300; // seconds

/** One report that came long after what it is about, or is dated into the future. */
export interface Afterward {
  seq: number;
  receivedAt: number;
  /** In words; texts of the model are quoted. */
  about: string;
  said: string;
}

export class Newest {
  count = 0;
  items: Afterward[] = [];

  add(one: Afterward): void {
    this.count++;
    this.items.push(one);
    if (this.items.length > 4 * LISTED) this.items = this.items.slice(-LISTED);
  }

  /** Takes over all of another one, which is then empty. */
  absorb(other: Newest): void {
    this.count += other.count;
    this.items = [...this.items, ...other.items].slice(-LISTED);
    [other.count, other.items] = [0, []];
  }
}
