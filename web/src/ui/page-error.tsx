/** What is shown where a page should be: nothing is there, or it broke. */
import { isMissing } from "~/api/problem";
import { ButtonLink } from "./button";
import { Failed } from "./panel";
import { useTitle } from "./title";

export function NotThere() {
  useTitle("Not found");
  return (
    <div className="mx-auto max-w-lg py-16 text-center">
      <h1 className="text-xl">There is nothing here</h1>
      <p className="mt-2 mb-6 text-soft">
        The address is wrong, or what was here is gone or not yours to see.
      </p>
      <ButtonLink to="/" weight="main">
        Go to your models
      </ButtonLink>
    </div>
  );
}

export function Trouble({ error, reset }: { error: unknown; reset?: () => void }) {
  if (isMissing(error)) return <NotThere />;
  return (
    <div className="mx-auto max-w-2xl py-10">
      <h1 className="mb-4 text-xl">That did not work</h1>
      <Failed error={error} retry={reset ?? (() => location.reload())} />
    </div>
  );
}
