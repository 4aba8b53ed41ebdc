/** Marks every page of the demo account: its data is simulated. */
import { useQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";

export function DemoBadge() {
  const { data: me } = useQuery(ask.me);
  if (!me?.is_demo) return null;
  return (
    <span
      className="rounded-full border border-edge px-2 text-xs font-medium tracking-normal text-soft"
      title="Demo data from a simulated market. To remove it, run: tapeline demo remove"
    >
      Demo
    </span>
  );
}
