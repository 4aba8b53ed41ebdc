/** Starting and stopping a model, with confirmation, for every button that does so. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { api, unwrap } from "~/api/client";
import { Confirm } from "~/ui/dialogs/dialog";
import { notify } from "~/ui/toasts";
import { StartDialog } from "./start-dialog";

export interface Subject {
  id: string;
  project_id: string;
  name: string;
}

export type Wish =
  | { act: "stop"; model: Subject }
  | { act: "start"; model: Subject; versionId?: string };

/** A confirmation dialog, and the function that opens it for an action. */
export function useModelActions() {
  const [wish, setWish] = useState<Wish | null>(null);
  const [open, setOpen] = useState(false);
  const queries = useQueryClient();

  async function carryOut(versionId: string | null) {
    if (!wish) return;
    const { model } = wish;
    const body = { projectId: model.project_id, modelId: model.id };
    if (wish.act === "stop") {
      await unwrap(api.POST("/model/kill", { body }));
      notify({ tone: "good", text: `Stopping ${model.name}…` });
    } else {
      // Null: the version's own plan, and type and schedule as before.
      const asBefore = { plan: null, type: null, schedule: null };
      const run = { ...body, ...asBefore, versionId };
      const { version } = await unwrap(api.POST("/model/run", { body: run }));
      notify({ tone: "good", text: `Starting version ${version} of ${model.name}…` });
    }
    await Promise.all([
      queries.invalidateQueries({ queryKey: ["model", model.id] }),
      queries.invalidateQueries({ queryKey: ["project", model.project_id] }),
    ]);
  }

  const dialog =
    wish?.act === "stop" ? (
      <Confirm
        open={open}
        onOpenChange={setOpen}
        title={`Stop ${wish.model.name}?`}
        action="Stop"
        danger
        act={() => carryOut(null)}
      >
        The model is asked to stop and has a few seconds to clean up. Stopping closes no positions:
        anything held at an exchange stays there.
      </Confirm>
    ) : wish ? (
      <StartDialog
        key={`${wish.model.id} ${wish.versionId}`}
        starting={{ ...wish.model, versionId: wish.versionId }}
        open={open}
        onOpenChange={setOpen}
        start={carryOut}
      />
    ) : null;
  const ask = useCallback((next: Wish) => {
    setWish(next);
    setOpen(true);
  }, []);
  return { dialog, ask };
}
