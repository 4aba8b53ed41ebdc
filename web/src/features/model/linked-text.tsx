/** User-written text with its URLs as links. */
const ADDRESS = /(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)])/;

export function Linked({ text }: { text: string }) {
  // Every second part is a URL, because the expression has a capturing group.
  return text.split(ADDRESS).map((part, at) =>
    at % 2 ? (
      <a
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have only their position
        key={at}
        href={part}
        target="_blank"
        rel="noreferrer"
        className="text-accent underline-offset-2 hover:underline"
      >
        {part}
      </a>
    ) : (
      part
    ),
  );
}
