/** Pages that not everybody gets: who may not is told so, before the page asks for anything. */
import { type RouteComponent, useParams } from "@tanstack/react-router";
import { AllowedPage, OperatorPage, type Right } from "~/ui/rights/allowed";

/** A page for those whose role allows it; others are told so, before it asks for anything. */
export function onlyWith(right: Right, Page: RouteComponent): RouteComponent {
  function Guarded() {
    const { project = "" } = useParams({ strict: false });
    return (
      <AllowedPage project={project} right={right}>
        <Page />
      </AllowedPage>
    );
  }
  return Object.assign(Guarded, { preload: () => Page.preload?.() });
}

export function onlyForOperators(Page: RouteComponent): RouteComponent {
  function Guarded() {
    return (
      <OperatorPage>
        <Page />
      </OperatorPage>
    );
  }
  return Object.assign(Guarded, { preload: () => Page.preload?.() });
}
