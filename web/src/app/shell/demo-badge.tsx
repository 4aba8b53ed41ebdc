/** Says on every page that what is seen is the demo: simulated, and easily removed. */
import { useQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";

export function DemoMark() {
  const { data: me } = useQuery(ask.me);
  if (!me?.is_demo) return null;
  return (
    <span
      className="rounded-full border border-edge px-2 text-xs font-medium tracking-normal text-soft"
      title="The demo: a simulated market. Remove it with: tapeline demo remove"
    >
      Demo
    </span>
  );
}
