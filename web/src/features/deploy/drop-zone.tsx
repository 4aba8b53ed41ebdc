/** Drop an archive or choose a file: one field for mouse and keyboard. */
import { type DragEvent, useState } from "react";
import { Icon } from "~/ui/icons";
import { problemWith } from "./upload";

export function DropZone({
  archive,
  choose,
}: {
  archive: File | null;
  choose: (file: File | null) => void;
}) {
  const [over, setOver] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  function take(file: File | undefined) {
    if (!file) return;
    const against = problemWith(file);
    setWrong(against);
    choose(against ? null : file);
  }
  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files[0]);
  }
  return (
    <div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is an extra for the mouse; the input inside works for everyone */}
      <div
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
        className={`relative grid justify-items-center gap-1 rounded-lg border-2 border-dashed px-4 py-8 text-center focus-within:border-accent ${over ? "border-accent bg-accent-ground" : "border-edge bg-sunken"}`}
      >
        <Icon name={archive ? "check" : "upload"} size={22} className="text-soft" />
        <p className="font-medium [overflow-wrap:anywhere]">
          {archive ? archive.name : "Drop a zip here, or choose a file"}
        </p>
        <p className="text-sm text-soft">
          {archive ? "Drop another file to replace it." : "At most 100 MB."}
        </p>
        <input
          type="file"
          accept=".zip,application/zip"
          aria-label="Model archive"
          className="absolute inset-0 cursor-pointer opacity-0"
          onChange={(event) => take(event.target.files?.[0])}
        />
      </div>
      {wrong && (
        <p role="alert" className="mt-2 text-bad">
          {wrong}
        </p>
      )}
    </div>
  );
}
