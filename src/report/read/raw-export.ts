import { JsonScanner } from "../../inputs/json-scanner.ts";
import { openFile } from "./profile-export.ts";

/** Values of JSON files as they stand there, for files that are put together from others. */

/** A part of a profile export's first experiment: its text as written. */
export interface RawPart {
  readonly key: "experiment" | "request" | "window_boundaries";
  readonly text: string;
}

/** The parts of an export's first experiment in the file's order, request by request. @throws UserError where the file is wrong */
export function* readRawParts(path: string): Generator<RawPart> {
  const source = openFile(path);
  try {
    const scanner = new JsonScanner(source, path);
    for (const key of scanner.members()) {
      if (key !== "experiments") scanner.skip();
      else
        for (const index of scanner.items()) {
          if (index === 0) yield* readExperiment(scanner);
          else scanner.skip();
        }
    }
  } finally {
    source.close();
  }
}

function* readExperiment(scanner: JsonScanner): Generator<RawPart> {
  for (const key of scanner.members()) {
    if (key === "requests") for (const _ of scanner.items()) yield { key: "request", text: scanner.text() };
    else if (key === "experiment" || key === "window_boundaries") yield { key, text: scanner.text() };
    else scanner.skip();
  }
}

/** The texts of some members of a file's object; what is not there is not in it. @throws UserError where the file is wrong */
export function readRawMembers<K extends string>(path: string, keys: readonly K[]): Partial<Record<K, string>> {
  const source = openFile(path);
  try {
    const scanner = new JsonScanner(source, path);
    const texts: Partial<Record<K, string>> = {};
    for (const key of scanner.members()) {
      const wanted = keys.find((one) => one === key);
      if (wanted === undefined) scanner.skip();
      else texts[wanted] = scanner.text();
    }
    return texts;
  } finally {
    source.close();
  }
}
