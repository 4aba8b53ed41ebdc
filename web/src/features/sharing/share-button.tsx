/** Shown to owners and admins only. The dialog's code is loaded on the first click. */
import { lazy, Suspense, useState } from "react";
import { useRole } from "~/features/project/use-role";
import { Button } from "~/ui/button";
import type { Shared } from "./share-dialog";

const ShareDialog = lazy(() =>
  import("./share-dialog").then((module) => ({ default: module.ShareDialog })),
);

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
