/** The role of the current user in a project. */
import { useQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";

export function useRole(project: string): string | undefined {
  const { data: me } = useQuery(ask.me);
  return me?.projects.find((one) => one.id === project)?.role;
}
