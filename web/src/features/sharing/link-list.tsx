/** The links to one record, with their views; each can be changed and revoked. */
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import { plural } from "~/format/numbers";
import { stamp } from "~/format/times";
import { IconButton } from "~/ui/button";
import { Confirm } from "~/ui/dialogs/dialog";
import { Time } from "~/ui/time";
import { restrictionsOf, type Share } from "./choices";

export function LinkList({
  model,
  links,
  change,
  revoked,
}: {
  model: string;
  links: readonly Share[];
  change: (share: Share) => void;
  revoked: (id: string) => Promise<unknown>;
}) {
  const [ending, setEnding] = useState<Share | null>(null);
  if (links.length === 0)
    return <p className="text-soft">No links yet. Nobody outside the project can see this.</p>;
  return (
    <>
      <ul className="rounded-md border border-line">
        {links.map((one) => (
          <li
            key={one.id}
            className="flex items-start gap-2 border-line px-3 py-2 not-first:border-t"
          >
            <div className="min-w-0 flex-1">
              <p className="font-medium [overflow-wrap:anywhere]">{nameOf(one)}</p>
              <p className="text-sm text-soft">{restrictionsOf(one)}</p>
              <p className="text-sm text-soft">
                {plural(one.views, "view")}
                {one.last_viewed_at !== null && (
                  <>
                    , last <Time at={one.last_viewed_at} as="ago" />
                  </>
                )}{" "}
                ·{" "}
                {one.expires_at === null ? (
                  "never ends"
                ) : one.is_expired ? (
                  <span className="text-warn">
                    ended <Time at={one.expires_at} as="ago" />
                  </span>
                ) : (
                  <>
                    ends <Time at={one.expires_at} />
                  </>
                )}
              </p>
            </div>
            <IconButton label={`Change ${nameOf(one)}`} icon="gear" onClick={() => change(one)} />
            <IconButton
              label={`Revoke ${nameOf(one)}`}
              icon="close"
              onClick={() => setEnding(one)}
            />
          </li>
        ))}
      </ul>
      <Confirm
        open={ending !== null}
        onOpenChange={(open) => !open && setEnding(null)}
        title={`Revoke ${ending ? nameOf(ending) : ""}?`}
        action="Revoke"
        danger
        act={async () => {
          const id = ending?.id ?? "";
          const params = { path: { model, share: id } };
          await unwrap(api.DELETE("/api/models/{model}/shares/{share}", { params }));
          await revoked(id);
        }}
      >
        The link stops working at once, and pages that embed it show that it is gone. This cannot be
        undone.
      </Confirm>
    </>
  );
}

function nameOf(share: Share): string {
  if (share.title) return share.title;
  const made = stamp(share.created_at).slice(0, 10);
  return `Link of ${made}`;
}
