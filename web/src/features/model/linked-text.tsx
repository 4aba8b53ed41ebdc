/** What somebody wrote, with its addresses as links. */
const ADDRESS = /(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)])/;

export function Linked({ text }: { text: string }) {
  // Every other part is an address, because of the brackets around the expression.
  return text.split(ADDRESS).map((part, at) =>
    at % 2 ? (
      <a
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
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
