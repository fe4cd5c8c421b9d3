import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { UserError } from "../plan/problem.ts";
import { notWritten, OutputFile } from "../report/output-file.ts";
import type { ProfileExport } from "../report/read/profile-export.ts";
import { readRawParts } from "../report/read/raw-export.ts";
import { removingPart } from "../run/open/process-end.ts";

/**
 * Writes several exports as one: the unchanged requests of all first experiments, inside the structure of the first export.
 * Writes the file atomically, and creates its folder if needed.
 * @throws UserError for an export that cannot be read, RunError when the file cannot be written
 */
export async function writeMergedExport(path: string, sources: readonly ProfileExport[]): Promise<void> {
  let file: OutputFile | undefined;
  try {
    await mkdir(dirname(path), { recursive: true });
    const opened = new OutputFile(path);
    file = opened;
    await removingPart(path, async () => {
      for (const text of mergeTexts(sources)) opened.write(text);
      opened.commit();
    });
  } catch (error) {
    file?.discard();
    throw error instanceof UserError ? error : notWritten(path, error, "outputs.folder");
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
