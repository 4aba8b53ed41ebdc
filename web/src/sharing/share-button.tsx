/** A button for those who may share; the dialog is loaded when it is first wanted. */
import { lazy, Suspense, useState } from "react";
import { useRole } from "~/project/use-role";
import { Button } from "~/ui/button";

const ShareDialog = lazy(() =>
  import("./share-dialog").then((module) => ({ default: module.ShareDialog })),
);

export interface Shared {
  model: string;
  /** Absent for the live record. */
  backtest?: string;
  name: string;
}

export function ShareButton({
  project,
  label = "Share",
  ...shared
}: Shared & { project: string; label?: string }) {
  const role = useRole(project);
  const [open, setOpen] = useState(false);
  const [wanted, setWanted] = useState(false);
  if (role !== "owner" && role !== "admin") return null;
  return (
    <>
      <Button
        icon="share"
        onClick={() => {
          setWanted(true);
          setOpen(true);
        }}
      >
        {label}
      </Button>
      {wanted && (
        <Suspense>
          <ShareDialog {...shared} open={open} onOpenChange={setOpen} />
        </Suspense>
      )}
    </>
  );
}
