/** Says on every page of a project that it is halted, and how far that is. */
import { useQuery } from "@tanstack/react-query";
import { Link, useRouterState } from "@tanstack/react-router";
import { halt } from "./queries";
import { summary } from "./words";

export function HaltNotice({ project }: { project: string }) {
  const { data } = useQuery(halt(project));
  const isThere = useRouterState({
    select: ({ location }) => location.pathname === `/${project}/halt`,
  });
  if (!data?.in_force || isThere) return null;
  return (
    <div role="alert" className="mb-4 rounded-md bg-bad-ground px-4 py-2.5 text-bad">
      <p dir="auto" className="[overflow-wrap:anywhere]">
        {data.project_id === null ? "Everything on this server" : "This project"} is halted
        {data.why && `: ${data.why}`}. {summary(data)}{" "}
        <Link to="/$project/halt" params={{ project }} className="underline">
          See each model
        </Link>
      </p>
    </div>
  );
}
