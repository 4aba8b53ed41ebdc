/** One of a few, chosen from a list. */

/** What stands for it in the address, and what people read where that is another word. */
export type Option = string | readonly [value: string, name: string];

export function Choice({
  label,
  value,
  options,
  choose,
  className = "",
}: {
  label: string;
  value: string;
  options: readonly Option[];
  choose: (value: string) => void;
  className?: string;
}) {
  return (
    <select
      aria-label={label}
      className={`field w-auto ${className}`}
      value={value}
      onChange={({ target }) => choose(target.value)}
    >
      {options.map((option) => {
        const [one, name] = typeof option === "string" ? [option, option] : option;
        return (
          <option key={one} value={one}>
            {name}
          </option>
        );
      })}
    </select>
  );
}
