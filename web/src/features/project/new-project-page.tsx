/** Creates a project. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, unwrap } from "~/api/client";
import { useTitle } from "~/ui/address";
import { type Names, NamesForm } from "~/ui/names-form";
import { PageHead, Panel } from "~/ui/panel";

export function NewProjectPage() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const create = useMutation({
    meta: { shown: true },
    mutationFn: (names: Names) => unwrap(api.POST("/project/create", { body: names })),
    onSuccess: async ({ projectId }) => {
      await queries.invalidateQueries({ queryKey: ["me"] });
      await navigate({ to: "/$project", params: { project: projectId } });
    },
  });
  useTitle("New project");
  return (
    <div className="mx-auto max-w-xl">
      <PageHead
        title="New project"
        lead="A project holds models, keys and the people who may see them."
      />
      <Panel>
        <NamesForm saving={create} hint="optional">
          Create
        </NamesForm>
      </Panel>
    </div>
  );
}
