import { open, rename, rm } from "node:fs/promises";
import type { ProfileExport } from "../../../report/read/profile-export.ts";
import { readRawParts } from "../../../report/read/raw-export.ts";
import { removingPart } from "../../../run/process-end.ts";

/** Writes several exports as one: the requests of all first experiments as they stand there, in the frame of the first. The file appears whole. */
export async function writeMergedExport(path: string, sources: readonly ProfileExport[]): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  try {
    await removingPart(part, () => writeWhole(part, sources));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}

async function writeWhole(path: string, sources: readonly ProfileExport[]): Promise<void> {
  const file = await open(path, "w");
  try {
    for (const text of mergeTexts(sources)) await file.write(text);
  } finally {
    await file.close();
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
