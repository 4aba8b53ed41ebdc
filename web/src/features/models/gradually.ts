/** Long lists: what fits a screen is drawn at once, the rest when there is time. */
import { startTransition, useEffect, useState } from "react";

const AT_ONCE = 40;

export function useGradually<T>(items: readonly T[]): readonly T[] {
  const [all, setAll] = useState(items.length <= AT_ONCE);
  useEffect(() => startTransition(() => setAll(true)), []);
  return all ? items : items.slice(0, AT_ONCE);
}
