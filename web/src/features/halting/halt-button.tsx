/** The red button: stops every model of a project, after one question. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import { Button } from "~/ui/button";
import { Confirm } from "~/ui/dialogs/dialog";
import { TextField } from "~/ui/field";
import { halt, haltedKey, type Scope } from "./queries";
import { useMayHalt } from "./use-may-halt";

export function HaltButton({ project, label = "Halt" }: { project: Scope; label?: string }) {
  const [open, setOpen] = useState(false);
  const [why, setWhy] = useState("");
  const mayHalt = useMayHalt(project);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data: known } = useQuery({ ...halt(project), enabled: mayHalt });
  if (!mayHalt || known?.in_force) return null;
  return (
    <>
      <Button weight="danger" icon="stop" onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Confirm
        open={open}
        onOpenChange={setOpen}
        title={project === null ? "Halt everything on this server?" : "Halt this project?"}
        action="Stop every model now"
        danger
        act={async () => {
          await (project === null
            ? unwrap(api.POST("/api/halt", { body: { why } }))
            : unwrap(
                api.POST("/api/projects/{project}/halt", {
                  params: { path: { project } },
                  body: { why },
                }),
              ));
          await queries.invalidateQueries({ queryKey: haltedKey(project) });
          if (project === null) await navigate({ to: "/halt" });
          else await navigate({ to: "/$project/halt", params: { project } });
        }}
      >
        <p>
          {project === null
            ? "Every model of every project is stopped, and nothing starts until an operator resumes. "
            : "Every model of this project is stopped, and nothing of it starts until somebody resumes. "}
          Stopping sells nothing: positions at an exchange stay as they are.
        </p>
        <TextField
          label="Why"
          hint="For everybody who sees it, and for the record"
          className="mt-3 text-ink"
          value={why}
          maxLength={1000}
          onChange={(event) => setWhy(event.target.value)}
        />
      </Confirm>
    </>
  );
}
