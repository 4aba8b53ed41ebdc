/** Shown to owners and admins only. The dialog's code is loaded on the first click. */
import { lazy, Suspense, useState } from "react";
import { Button } from "~/ui/button";
import { useMay } from "~/ui/rights/allowed";
import type { Shared } from "./share-dialog";

const ShareDialog = lazy(() =>
  import("./share-dialog").then((module) => ({ default: module.ShareDialog })),
);

export function ShareButton({
  project,
  label = "Share",
  ...shared
}: Shared & { project: string; label?: string }) {
  const mayShare = useMay(project, "manage");
  const [open, setOpen] = useState(false);
  const [wanted, setWanted] = useState(false);
  if (!mayShare) return null;
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
