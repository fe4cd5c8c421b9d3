import { fileSystem } from "../../../runtime/files.ts";
import { ZEROS } from "../input-data.ts";
import type { Settings, UngroupedOption, ValueReader } from "../settings.ts";
import { START_MESSAGE } from "./load.ts";

const RANGE = "--concurrency-range";

/** Deprecated options of perf_analyzer that still work. */
export const DEPRECATED: readonly UngroupedOption[] = [
  {
    names: ["-t"],
    value: "N",
    help: `START of ${RANGE}.`,
    read: (settings, _text, reader) => {
      const start = readEnd(settings, reader);
      if (start === undefined) return;
      if (start <= 0) reader.refuse(START_MESSAGE, "Give 1 or more.");
      else settings.concurrency = { ...settings.concurrency, start };
    },
  },
  {
    names: ["-c"],
    value: "N",
    help: `END of ${RANGE}.`,
    read: (settings, _text, reader) => {
      const end = readEnd(settings, reader);
      if (end === undefined) return;
      if (end < 0) reader.fail("The value must be >= 0.", "Give 0 for no end.");
      else settings.concurrency = { start: 1, ...settings.concurrency, end };
    },
  },
  {
    names: ["-d"],
    help: "Nothing: a range of concurrencies is measured wherever -c gives its end.",
    read: (settings, _text, reader) => {
      reader.deprecate(RANGE);
      // Like perf_analyzer, only if the option follows the range.
      if (settings.given.has(RANGE)) refuseBoth(reader);
    },
  },
  {
    names: ["-z"],
    help: "The same as --input-data zero.",
    read: (settings, _text, reader) => {
      reader.deprecate("--input-data=zero");
      settings.inputData = [...settings.inputData, ZEROS];
    },
  },
  {
    names: ["--data-directory"],
    value: "DIR",
    help: "The same as --input-data with a directory.",
    read: (settings, text, reader) => {
      reader.deprecate("--input-data");
      if (fileSystem().existsSync(text)) settings.inputData = [...settings.inputData, text];
      else reader.refuse("failed to open file for reading provided data", "Give an existing directory.");
    },
  },
];

/** Reads an end of the concurrency range; undefined (with a problem) if it is invalid or the range was also given. */
function readEnd(settings: Settings, reader: ValueReader): number | undefined {
  reader.deprecate(RANGE);
  if (!settings.given.has(RANGE)) return reader.integer();
  refuseBoth(reader);
  return undefined;
}

function refuseBoth(reader: ValueReader): void {
  const message = "Cannot use both Concurrency and DeprecatedConcurrency inference load modes.";
  reader.refuse(message, `Give ${RANGE} alone.`);
}
