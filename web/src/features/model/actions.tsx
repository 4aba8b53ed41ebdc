/** Starting and stopping a model: asked for once, here, wherever the button stands. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { api, given } from "~/api/client";
import { Confirm } from "~/ui/dialog";
import { say } from "~/ui/toasts";

export interface Subject {
  id: string;
  project_id: string;
  name: string;
}

export type Wish =
  | { act: "stop"; model: Subject }
  | { act: "start"; model: Subject; versionId?: string; version?: number };

/** A dialog for one wish at a time, and how to wish. */
export function useModelActions() {
  const [wish, setWish] = useState<Wish | null>(null);
  const [open, setOpen] = useState(false);
  const queries = useQueryClient();

  async function carryOut() {
    if (!wish) return;
    const { model } = wish;
    const body = { projectId: model.project_id, modelId: model.id };
    if (wish.act === "stop") {
      await given(api.POST("/model/kill", { body }));
      say({ tone: "good", text: `${model.name} is being stopped.` });
    } else {
      // What is not said here is as it was when this version ran last.
      const asBefore = { plan: null, type: null, schedule: null };
      const versionId = wish.versionId ?? null;
      await given(api.POST("/model/run", { body: { ...body, ...asBefore, versionId } }));
      say({ tone: "good", text: `${model.name} is being started.` });
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
      action={wish.act === "stop" ? "Stop it" : "Start it"}
      danger={wish.act === "stop"}
      act={carryOut}
    >
      {wish.act === "stop"
        ? "It is asked to end and gets some seconds to clean up. What it holds at an exchange stays there: stopping sells nothing."
        : "It takes the place of what runs now: the old one ends before the new one begins, so there is never a second one trading."}
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
