/** A project's settings: name, id, space, deletion. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import * as ask from "~/api/queries";
import { SpacePanel } from "~/features/project/space-panel";
import { useTitle } from "~/ui/address";
import { Button } from "~/ui/button";
import { Command } from "~/ui/copy";
import { Confirm } from "~/ui/dialogs/dialog";
import { type Names, NamesForm } from "~/ui/names-form";
import { PageHead, Panel, Skeleton } from "~/ui/panel";
import { Allowed } from "~/ui/rights/allowed";
import { notify } from "~/ui/toasts";

export function ProjectPage() {
  const { project: id = "" } = useParams({ strict: false });
  const { data: me } = useQuery(ask.me);
  const project = me?.projects.find((one) => one.id === id);
  useTitle("Project settings");
  if (!me || !project) return <Skeleton />;
  return (
    <div className="mx-auto grid max-w-3xl gap-4">
      <PageHead title="Project settings" />
      <Allowed project={id} right="manage">
        <Naming key={project.id} project={project} />
      </Allowed>
      <Panel title="Id">
        <Command label="project id" text={project.id} />
      </Panel>
      <SpacePanel project={id} />
      {project.may.includes("own") && project.id !== me.id && <End project={project} />}
    </div>
  );
}

function Naming({ project }: { project: ask.Project }) {
  const queries = useQueryClient();
  const save = useMutation({
    meta: { shown: true },
    mutationFn: (names: Names) =>
      unwrap(
        api.PATCH("/api/projects/{project}", {
          params: { path: { project: project.id } },
          body: names,
        }),
      ),
    onSuccess: async () => {
      notify({ tone: "good", text: "Saved." });
      await queries.invalidateQueries({ queryKey: ["me"] });
    },
  });
  return (
    <Panel title="Name">
      <NamesForm known={project} saving={save}>
        Save
      </NamesForm>
    </Panel>
  );
}

function End({ project }: { project: ask.Project }) {
  const [open, setOpen] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <Panel title="Delete">
      <p className="mb-3 text-soft">
        Stops all models and permanently deletes them, their records and the keys.
      </p>
      <Button weight="danger" onClick={() => setOpen(true)}>
        Delete this project
      </Button>
      <Confirm
        open={open}
        onOpenChange={setOpen}
        title={`Delete ${project.name}?`}
        action="Delete permanently"
        danger
        act={async () => {
          await unwrap(api.POST("/project/delete", { body: { projectId: project.id } }));
          await queries.invalidateQueries({ queryKey: ["me"] });
          await navigate({ to: "/" });
        }}
      >
        This deletes everything in the project and cannot be undone.
      </Confirm>
    </Panel>
  );
}
