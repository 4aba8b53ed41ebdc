/** A state as a dot; its shape differs too, not only its colour. */
import { type State, WORDS } from "./states";

const DOTS: Record<State, string> = {
  green: "rounded-full bg-good",
  yellow: "rounded-full border-2 border-warn",
  red: "rotate-45 bg-bad",
};

export function StateDot({ state }: { state: State }) {
  return (
    <>
      <span aria-hidden="true" className={`inline-block size-2.5 shrink-0 ${DOTS[state]}`} />
      <span className="sr-only">{WORDS[state]}:</span>
    </>
  );
}
