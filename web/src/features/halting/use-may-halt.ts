/** Whether the reader may halt and resume: a project as its member, everything as an operator. */
import { useQuery } from "@tanstack/react-query";
import * as ask from "~/api/queries";
import { useMay } from "~/ui/rights/allowed";
import type { Scope } from "./queries";

export function useMayHalt(project: Scope): boolean {
  const { data: me } = useQuery(ask.me);
  const mayInProject = useMay(project ?? "", "change_models");
  return project === null ? (me?.is_operator ?? false) : mayInProject;
}
