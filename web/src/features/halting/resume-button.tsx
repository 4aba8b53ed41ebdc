/** Ends a halt, and starts again what ran, if somebody wants that. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import { plural } from "~/format/numbers";
import { Button } from "~/ui/button";
import { Confirm } from "~/ui/dialogs/dialog";
import { notify } from "~/ui/toasts";
import { haltedKey, type Scope } from "./queries";
import { useMayHalt } from "./use-may-halt";

export function ResumeButton({ project }: { project: Scope }) {
  const [open, setOpen] = useState(false);
  const [start, setStart] = useState(false);
  const mayResume = useMayHalt(project);
  const queries = useQueryClient();
  if (!mayResume) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Resume</Button>
      <Confirm
        open={open}
        onOpenChange={setOpen}
        title={project === null ? "Resume everything?" : "Resume this project?"}
        action={start ? "Resume and start" : "Resume"}
        act={async () => {
          const { started } = await (project === null
            ? unwrap(api.POST("/api/resume", { body: { start } }))
            : unwrap(
                api.POST("/api/projects/{project}/resume", {
                  params: { path: { project } },
                  body: { start },
                }),
              ));
          const more = start ? ` ${plural(started, "model")} started again.` : "";
          notify({ tone: "good", text: `Resumed.${more}` });
          await queries.invalidateQueries({ queryKey: haltedKey(project) });
        }}
      >
        <p>Models can be started again. Nothing starts by itself, unless you say so.</p>
        <label className="mt-3 flex items-center gap-2 text-ink">
          <input
            type="checkbox"
            className="size-4"
            checked={start}
            onChange={(event) => setStart(event.target.checked)}
          />
          Start again what ran until the halt
        </label>
      </Confirm>
    </>
  );
}
