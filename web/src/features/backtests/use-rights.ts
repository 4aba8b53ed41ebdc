import { useRole } from "~/features/project/use-role";

/** Whether who looks may change anything; a viewer is shown no buttons that would only refuse. */
export function useMayChange(project: string): boolean {
  const role = useRole(project);
  return role !== undefined && role !== "viewer";
}
