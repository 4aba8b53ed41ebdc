import { useRole } from "~/features/project/use-role";

/** Whether the current user may make changes. Viewers get no buttons that would only be refused. */
export function useMayChange(project: string): boolean {
  const role = useRole(project);
  return role !== undefined && role !== "viewer";
}
