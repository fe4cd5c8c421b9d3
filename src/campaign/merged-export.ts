import { OutputFile } from "../report/output-file.ts";
import type { ProfileExport } from "../report/read/profile-export.ts";
import { readRawParts } from "../report/read/raw-export.ts";
import { removingPart } from "../run/target/process-end.ts";

/**
 * Writes several exports as one: the unchanged requests of all first experiments, inside the structure of the first export. Writes the file
 * atomically.
 */
export async function writeMergedExport(path: string, sources: readonly ProfileExport[]): Promise<void> {
  const file = new OutputFile(path);
  try {
    await removingPart(path, async () => {
      for (const text of mergeTexts(sources)) file.write(text);
      file.commit();
    });
  } catch (error) {
    file.discard();
    throw error;
  }
}

const PIECE_CHARACTERS = 256 * 1024;

function* mergeTexts(sources: readonly ProfileExport[]): Generator<string> {
  const frame = { experiment: "{}", window_boundaries: "[]" };
  const [first] = sources;
  if (first === undefined) return;
  for (const { key, text } of readRawParts(first.path)) if (key !== "request") frame[key] = text;
  let piece = `{"experiments":[{"experiment":${frame.experiment},"requests":[`;
  let isFirst = true;
  for (const { path } of sources)
    for (const { key, text } of readRawParts(path)) {
      if (key !== "request") continue;
      piece += isFirst ? text : `,${text}`;
      isFirst = false;
      if (piece.length < PIECE_CHARACTERS) continue;
      yield piece;
      piece = "";
    }
  const { version, serviceKind, endpoint } = first;
  const end = { version, service_kind: serviceKind, endpoint };
  yield `${piece}],"window_boundaries":${frame.window_boundaries}}],${JSON.stringify(end).slice(1)}`;
}
