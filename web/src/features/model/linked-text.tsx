/** User-written text with its URLs as links. */
const ADDRESS = /(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)])/;

const LONGEST = 36;

/** An address as far as one needs to recognise it. */
export function brief(address: string): string {
  const bare = address.replace(/^https?:\/\//, "");
  return bare.length > LONGEST ? `${bare.slice(0, LONGEST - 1)}…` : bare;
}

export function Linked({ text }: { text: string }) {
  // Every second part is a URL, because the expression has a capturing group.
  return text.split(ADDRESS).map((part, at) =>
    at % 2 ? (
      <a
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have only their position
        key={at}
        href={part}
        title={part}
        target="_blank"
        rel="noreferrer"
        className="text-accent underline-offset-2 hover:underline"
      >
        {brief(part)}
      </a>
    ) : (
      part
    ),
  );
}
