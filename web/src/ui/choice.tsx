/** One of a few, chosen from a list. */
import { Select } from "./select";

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
    <Select
      aria-label={label}
      className={`w-auto ${className}`}
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
    </Select>
  );
}
