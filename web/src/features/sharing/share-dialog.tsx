/** Sharing a record: existing links, a form for a new one, and a preview of the shared page. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "~/api/client";
import * as ask from "~/api/queries";
import { Button } from "~/ui/button";
import { Command } from "~/ui/copy";
import { Dialog } from "~/ui/dialogs/dialog";
import { Failed, Notice, Skeleton } from "~/ui/panel";
import { notify } from "~/ui/toasts";
import {
  bodyOf,
  chosen,
  type Draft,
  draftOf,
  EMPTY,
  embedOf,
  errorsIn,
  expiryOf,
  type Made,
  type Share,
} from "./choices";
import { ChoicesForm } from "./choices-form";
import { LinkList } from "./link-list";
import { Preview } from "./preview";

export interface Shared {
  model: string;
  /** Absent for the live record. */
  backtest?: string;
  name: string;
}

export function ShareDialog({
  open,
  onOpenChange,
  ...shared
}: Shared & { open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={`Share ${shared.name}`} huge>
      <Sharing {...shared} />
    </Dialog>
  );
}

function Sharing({ model, backtest }: Shared) {
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const [changing, setChanging] = useState<Share | null>(null);
  const [made, setMade] = useState<Made | null>(null);
  const { data: all, error, refetch } = useQuery(ask.shares(model));
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: ["model", model, "shares"] });
  const of = backtest ?? null;
  const links = all?.filter((one) => one.backtest_id === of);

  const save = useMutation({
    meta: { shown: true },
    mutationFn: async (): Promise<Made | null> => {
      if (!changing) {
        const params = { path: { model } };
        return unwrap(api.POST("/api/models/{model}/shares", { params, body: bodyOf(draft, of) }));
      }
      const expires = expiryOf(draft, Date.now() / 1000);
      await unwrap(
        api.PATCH("/api/models/{model}/shares/{share}", {
          params: { path: { model, share: changing.id } },
          body: {
            ...chosen(draft, of),
            ...(expires === undefined ? {} : { expires_at: expires }),
            ...(draft.password ? { password: draft.password } : {}),
          },
        }),
      );
      return null;
    },
    onSuccess: async (answer) => {
      setMade(answer);
      if (!answer) notify({ tone: "good", text: "The link was updated." });
      stopChanging();
      await refresh();
    },
  });

  function change(share: Share) {
    setMade(null);
    save.reset();
    setChanging(share);
    setDraft(draftOf(share));
  }
  function revoked(id: string) {
    if (made?.id === id) setMade(null);
    if (changing?.id === id) stopChanging();
    return refresh();
  }
  function stopChanging() {
    setChanging(null);
    setDraft(EMPTY);
  }

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6 lg:grid-cols-[minmax(0,25rem)_minmax(0,1fr)]">
      <div className="grid min-w-0 content-start gap-5">
        {made ? (
          <NewLink made={made} another={() => setMade(null)} />
        ) : (
          <ChoicesForm
            draft={draft}
            onChange={setDraft}
            isLive={of === null}
            changing={changing}
            problem={save.error}
            busy={save.isPending}
            submit={() => Object.keys(errorsIn(draft)).length === 0 && save.mutate()}
            cancel={stopChanging}
          />
        )}
        <section aria-labelledby="links-there-are">
          <h3 id="links-there-are" className="mb-2 text-base">
            Existing links
          </h3>
          {error ? (
            <Failed error={error} retry={() => void refetch()} />
          ) : !links ? (
            <Skeleton rows={2} />
          ) : (
            <LinkList model={model} links={links} change={change} revoked={revoked} />
          )}
        </section>
      </div>
      <Preview
        model={model}
        backtest={of}
        draft={made ? draftOf(made) : draft}
        isMade={made !== null}
      />
    </div>
  );
}

function NewLink({ made, another }: { made: Made; another: () => void }) {
  return (
    <section aria-labelledby="new-link" className="grid gap-3">
      <h3 id="new-link" className="text-base">
        The link
      </h3>
      <Notice tone="warn">
        Copy it now: it is shown this once. The server keeps only its fingerprint.
      </Notice>
      <Command label="link" text={made.url} wraps />
      <div>
        <h4 className="mb-1 font-medium">In another page</h4>
        <Command label="embed" text={embedOf(made)} wraps />
        {made.has_password && (
          <p className="mt-1 text-sm text-soft">
            A frame cannot ask for the password; it only says that there is one.
          </p>
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        <a
          href={made.url}
          target="_blank"
          rel="noreferrer"
          className="inline-flex min-h-8 items-center rounded-md bg-accent px-3 font-medium text-on-accent hover:bg-accent-over"
        >
          Open
        </a>
        <Button icon="plus" onClick={another}>
          Create another
        </Button>
      </div>
    </section>
  );
}
