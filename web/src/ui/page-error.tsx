/** Shown in place of a page that does not exist or failed to load. */
import { isMissing } from "~/api/problem";
import { useTitle } from "./address";
import { ButtonLink } from "./button";
import { Failed } from "./panel";

export function NotFound() {
  useTitle("Not found");
  return (
    <div className="mx-auto max-w-lg py-16 text-center">
      <h1 className="text-xl">Page not found</h1>
      <p className="mt-2 mb-6 text-soft">
        The address is wrong, the page was removed, or you do not have access to it.
      </p>
      <ButtonLink to="/" weight="main">
        Go to your models
      </ButtonLink>
    </div>
  );
}

export function PageError({ error, reset }: { error: unknown; reset?: () => void }) {
  if (isMissing(error)) return <NotFound />;
  return (
    <div className="mx-auto max-w-2xl py-10">
      <h1 className="mb-4 text-xl">Something went wrong</h1>
      <Failed error={error} retry={reset ?? (() => location.reload())} />
    </div>
  );
}
