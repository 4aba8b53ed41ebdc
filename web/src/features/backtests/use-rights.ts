import { useQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";

/** Whether who looks may change anything; a viewer is shown no buttons that would only refuse. */
export function useMayChange(project: string): boolean {
  const { data: me } = useQuery(ask.me);
  const role = me?.projects.find((one) => one.id === project)?.role;
  return role !== undefined && role !== "viewer";
}
