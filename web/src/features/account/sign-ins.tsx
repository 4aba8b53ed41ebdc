/** Every browser and program that is signed in to the account, and how to end each sign-in. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "~/api/client";
import * as ask from "~/api/queries";
import { Button } from "~/ui/button";
import { Failed, Panel, Skeleton } from "~/ui/panel";
import { Time } from "~/ui/time";
import { notify } from "~/ui/toasts";
import { program } from "./program";

export function SignIns() {
  const { data, error, refetch } = useQuery(ask.signIns);
  const queries = useQueryClient();
  const end = useMutation({
    mutationFn: (one: Schemas["ShownSignIn"]) =>
      unwrap(api.DELETE("/api/me/sign-ins/{sign_in}", { params: { path: { sign_in: one.id } } })),
    onSuccess: async () => {
      notify({ tone: "good", text: "The sign-in was ended." });
      await queries.invalidateQueries({ queryKey: ["me", "sign-ins"] });
    },
  });
  return (
    <Panel title="Where you are signed in" flush>
      {error ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton />
      ) : (
        <ul>
          {data.map((one) => (
            <li
              key={one.id}
              className="flex flex-wrap items-center gap-x-4 gap-y-1 border-line px-4 py-2.5 not-first:border-t"
            >
              <div className="min-w-48 flex-1">
                <p className="font-medium" title={one.agent}>
                  {program(one.kind, one.agent)}
                </p>
                <p className="text-sm text-soft">
                  {one.address || "unknown address"} · since <Time at={one.created_at} /> · used{" "}
                  <Time at={one.last_used_at} as="ago" />
                </p>
              </div>
              {one.current ? (
                <span className="rounded-full bg-good-ground px-2.5 py-0.5 text-sm font-medium text-good">
                  this browser
                </span>
              ) : (
                <Button disabled={end.isPending} onClick={() => end.mutate(one)}>
                  End
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
