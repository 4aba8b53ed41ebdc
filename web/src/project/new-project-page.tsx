/** A new project: models that a group of people shares. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, given } from "~/api/client";
import { useTitle } from "~/shell/title";
import { Button } from "~/ui/button";
import { about, TextField } from "~/ui/field";
import { Failed, PageHead, Panel } from "~/ui/panel";

export function NewProjectPage() {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const navigate = useNavigate();
  const queries = useQueryClient();
  const create = useMutation({
    meta: { shown: true },
    mutationFn: () => given(api.POST("/project/create", { body: { name, description } })),
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
        <form
          className="grid gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate();
          }}
        >
          <TextField
            label="Name"
            value={name}
            required
            maxLength={120}
            onChange={(event) => setName(event.target.value)}
            error={about(create.error, "name")}
          />
          <TextField
            label="Description"
            hint="optional"
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
          {create.error && !about(create.error, "name") && <Failed error={create.error} />}
          <Button
            type="submit"
            weight="main"
            className="justify-self-start"
            disabled={create.isPending}
          >
            Create
          </Button>
        </form>
      </Panel>
    </div>
  );
}
