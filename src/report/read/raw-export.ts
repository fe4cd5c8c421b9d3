import type { JsonScanner } from "../../inputs/json-scanner.ts";
import { scanItems, withScanner } from "./profile-export.ts";

/** A part of a profile export's first experiment, as written, for files that are composed from others. */
interface RawPart {
  readonly key: "experiment" | "request" | "window_boundaries";
  readonly text: string;
}

/** Returns the parts of an export's first experiment in order, request by request. @throws UserError when the file is not valid */
export function readRawParts(path: string): Generator<RawPart> {
  return scanItems(path, function* (scanner) {
    for (const key of scanner.members()) {
      if (key !== "experiments") scanner.skip();
      else
        for (const index of scanner.items()) {
          if (index === 0) yield* readExperiment(scanner);
          else scanner.skip();
        }
    }
  });
}

function* readExperiment(scanner: JsonScanner): Generator<RawPart> {
  for (const key of scanner.members()) {
    if (key === "requests") for (const _ of scanner.items()) yield { key: "request", text: scanner.text() };
    else if (key === "experiment" || key === "window_boundaries") yield { key, text: scanner.text() };
    else scanner.skip();
  }
}

/** Returns the texts of some members of a file's object, omitting missing ones. @throws UserError when the file is not valid */
export function readRawMembers<K extends string>(path: string, keys: readonly K[]): Partial<Record<K, string>> {
  return withScanner(path, (scanner) => {
    const texts: Partial<Record<K, string>> = {};
    for (const key of scanner.members()) {
      const wanted = keys.find((one) => one === key);
      if (wanted === undefined) scanner.skip();
      else texts[wanted] = scanner.text();
    }
    return texts;
  });
}
