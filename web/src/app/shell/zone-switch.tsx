/** One switch for all times of all pages: the reader's zone, UTC, or that of the model's exchange. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import * as ask from "~/api/queries";
import { keepZone } from "~/app/kept-zone";
import { zoneOfExchanges } from "~/format/exchanges";
import { watchZone, zone, zoneLabel } from "~/format/zone";

export function useZone(): string {
  return useSyncExternalStore(watchZone, zone);
}

/** `brief` leaves out what each zone is, where there is no room to say it. */
export function ZoneSwitch({
  className = "",
  brief = false,
}: {
  className?: string;
  brief?: boolean;
}) {
  const now = useZone();
  const { model = "" } = useParams({ strict: false });
  const { data } = useQuery({ ...ask.model(model), enabled: model !== "" });
  const navigate = useNavigate();
  const exchange = zoneOfExchanges(data?.exchanges ?? []);
  const others = [...new Set([exchange, now])].filter(
    (one): one is string => one !== null && one !== "local" && one !== "utc",
  );
  const named = (one: string, what: string) =>
    brief || !what ? zoneLabel(one) : `${zoneLabel(one)} (${what})`;
  return (
    <select
      aria-label="Time zone"
      title="The time zone of all times, charts and downloads"
      className={`min-h-8 min-w-0 rounded-md bg-transparent text-soft hover:text-ink ${className}`}
      value={now}
      onChange={({ target }) => {
        keepZone(target.value);
        const search = (old: object) => ({ ...old, zone: target.value });
        void navigate({ to: ".", search, replace: true });
      }}
    >
      <option value="local">{named("local", "your time")}</option>
      <option value="utc">UTC</option>
      {others.map((one) => (
        <option key={one} value={one}>
          {named(one, one === exchange ? "exchange" : "")}
        </option>
      ))}
    </select>
  );
}
