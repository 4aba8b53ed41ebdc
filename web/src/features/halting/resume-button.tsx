/** Ends a halt, and starts again what ran, if somebody wants that. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import { plural } from "~/format/numbers";
import { Button } from "~/ui/button";
import { Confirm } from "~/ui/dialog";
import { useMay } from "~/ui/rights/allowed";
import { notify } from "~/ui/toasts";

export function ResumeButton({ project }: { project: string }) {
  const [open, setOpen] = useState(false);
  const [start, setStart] = useState(false);
  const mayResume = useMay(project, "change_models");
  const queries = useQueryClient();
  if (!mayResume) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Resume</Button>
      <Confirm
        open={open}
        onOpenChange={setOpen}
        title="Resume this project?"
        action={start ? "Resume and start" : "Resume"}
        act={async () => {
          const { started } = await unwrap(
            api.POST("/api/projects/{project}/resume", {
              params: { path: { project } },
              body: { start },
            }),
          );
          const more = start ? ` ${plural(started, "model")} started again.` : "";
          notify({ tone: "good", text: `Resumed.${more}` });
          await queries.invalidateQueries({ queryKey: ["project", project] });
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
