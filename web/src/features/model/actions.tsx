/** Starting and stopping a model, with confirmation, for every button that does so. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { api, unwrap } from "~/api/client";
import { Confirm } from "~/ui/dialog";
import { notify } from "~/ui/toasts";

export interface Subject {
  id: string;
  project_id: string;
  name: string;
}

export type Wish =
  | { act: "stop"; model: Subject }
  | { act: "start"; model: Subject; versionId?: string; version?: number };

/** A confirmation dialog, and the function that opens it for an action. */
export function useModelActions() {
  const [wish, setWish] = useState<Wish | null>(null);
  const [open, setOpen] = useState(false);
  const queries = useQueryClient();

  async function carryOut() {
    if (!wish) return;
    const { model } = wish;
    const body = { projectId: model.project_id, modelId: model.id };
    if (wish.act === "stop") {
      await unwrap(api.POST("/model/kill", { body }));
      notify({ tone: "good", text: `Stopping ${model.name}…` });
    } else {
      // Null keeps the options of the last run of this version.
      const asBefore = { plan: null, type: null, schedule: null };
      const versionId = wish.versionId ?? null;
      await unwrap(api.POST("/model/run", { body: { ...body, ...asBefore, versionId } }));
      notify({ tone: "good", text: `Starting ${model.name}…` });
    }
    await Promise.all([
      queries.invalidateQueries({ queryKey: ["model", model.id] }),
      queries.invalidateQueries({ queryKey: ["project", model.project_id] }),
    ]);
  }

  const dialog = wish && (
    <Confirm
      open={open}
      onOpenChange={setOpen}
      title={title(wish)}
      action={wish.act === "stop" ? "Stop" : "Start"}
      danger={wish.act === "stop"}
      act={carryOut}
    >
      {wish.act === "stop"
        ? "The model is asked to stop and has a few seconds to clean up. Stopping closes no positions: anything held at an exchange stays there."
        : "If the model is already running, the old instance stops before the new one starts, so two never trade at the same time."}
    </Confirm>
  );
  const ask = useCallback((next: Wish) => {
    setWish(next);
    setOpen(true);
  }, []);
  return { dialog, ask };
}

function title(wish: Wish): string {
  if (wish.act === "stop") return `Stop ${wish.model.name}?`;
  return wish.version
    ? `Run version ${wish.version} of ${wish.model.name}?`
    : `Start ${wish.model.name}?`;
}
