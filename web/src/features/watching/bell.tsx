/** The bell: how many incidents of the project are open, on every page. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Icon } from "~/ui/icons";
import { openIncidents } from "./queries";
import { ringing } from "./words";

export function Bell({ project, done }: { project: string; done?: (() => void) | undefined }) {
  const { data } = useQuery(openIncidents(project));
  const open = data?.length ?? 0;
  const unseen = data?.filter((one) => one.acknowledged_at === null).length ?? 0;
  const label = ringing(open);
  return (
    <Link
      to="/$project/incidents"
      params={{ project }}
      {...(open ? { search: { state: "open" } } : {})}
      onClick={done}
      aria-label={label}
      title={label}
      className={`relative inline-flex size-8 shrink-0 items-center justify-center rounded-md hover:bg-hover ${unseen ? "text-bad" : "text-soft hover:text-ink"}`}
    >
      <Icon name="bell" />
      {open > 0 && (
        <span
          aria-hidden="true"
          className={`num absolute -top-0.5 left-4 min-w-4 rounded-full px-1 text-center text-xs leading-4 font-semibold text-surface ${unseen ? "bg-bad" : "bg-soft"}`}
        >
          {open > 99 ? "99+" : open}
        </span>
      )}
      <span role="status" className="sr-only">
        {open > 0 && label}
      </span>
    </Link>
  );
}
