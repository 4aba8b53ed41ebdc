/**
 * What the role of the signed-in member allows, as the server says it. A control whose request would
 * be refused is not there; `tests/e2e/test_roles.py` opens every page as each role.
 */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import * as ask from "~/api/queries";
import { useTitle } from "../address";
import { Skeleton } from "../panel";

export type Right = ask.Project["may"][number];

/** False while it is not known: a button appears, but none disappears. */
export function useMay(project: string, right: Right): boolean {
  const { data: me } = useQuery(ask.me);
  return may(me, project, right);
}

export function may(me: ask.Me | undefined, project: string, right: Right): boolean {
  return me?.projects.find((one) => one.id === project)?.may.includes(right) ?? false;
}

/** What only some roles get, and for the others what stands in its place. */
export function Allowed({
  project,
  right,
  otherwise = null,
  children,
}: {
  project: string;
  right: Right;
  otherwise?: ReactNode;
  children: ReactNode;
}) {
  return useMay(project, right) ? children : otherwise;
}

/** A whole page that only some roles get: asks the server for nothing that it would refuse. */
export function AllowedPage({
  project,
  right,
  children,
}: {
  project: string;
  right: Right;
  children: ReactNode;
}) {
  const { data: me } = useQuery(ask.me);
  if (!me) return <Skeleton rows={6} />;
  const own = me.projects.find((one) => one.id === project);
  if (!own || own.may.includes(right)) return children; // an outsider is told by the page itself
  return (
    <Refused title="Your role does not allow this">
      You are {own.role === "admin" ? "an" : "a"} {own.role} of <bdi>{own.name}</bdi>. Ask an owner
      or admin for another role.
    </Refused>
  );
}

/** A whole page for those who operate this server. */
export function OperatorPage({ children }: { children: ReactNode }) {
  const { data: me } = useQuery(ask.me);
  if (!me) return <Skeleton rows={6} />;
  if (me.is_operator) return children;
  return <Refused title="Only for operators">This page is for those who run this server.</Refused>;
}

function Refused({ title, children }: { title: string; children: ReactNode }) {
  useTitle(title);
  return (
    <div className="mx-auto max-w-lg py-16 text-center">
      <h1 className="text-xl">{title}</h1>
      <p className="mt-2 text-soft [overflow-wrap:anywhere]">{children}</p>
    </div>
  );
}
