/** Moves a host's models away before somebody works on it, and lets it take runs again. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, unwrap } from "~/api/client";
import * as ask from "~/api/queries";
import { Button } from "~/ui/button";
import { Confirm } from "~/ui/dialogs/dialog";

export function DrainButton({ host }: { host: Schemas["ShownHost"] }) {
  const [open, setOpen] = useState(false);
  const queries = useQueryClient();
  const drained = Boolean(host.drained_at);
  const path = { params: { path: { host: host.name } } };
  // Machines may have equal names.
  const name = host.machine ? `${host.machine} (${host.name})` : host.name;
  return (
    <>
      <Button aria-label={`${drained ? "Undrain" : "Drain"} ${name}`} onClick={() => setOpen(true)}>
        {drained ? "Undrain" : "Drain"}
      </Button>
      <Confirm
        open={open}
        onOpenChange={setOpen}
        title={drained ? `Let ${name} take runs again?` : `Drain ${name}?`}
        action={drained ? "Undrain" : "Drain"}
        act={async () => {
          await (drained
            ? unwrap(api.POST("/api/hosts/{host}/undrain", path))
            : unwrap(api.POST("/api/hosts/{host}/drain", path)));
          await queries.invalidateQueries({ queryKey: ask.health.queryKey });
        }}
      >
        <p>
          {drained
            ? "New runs may be placed there from now on. Models that have moved stay where they are."
            : "It takes no new runs. Its live models move to other machines one by one: each is prepared there, stops here, and starts there. Backtests that it has begun are finished."}
        </p>
      </Confirm>
    </>
  );
}
