import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { defined } from "../../plan/objects.ts";
import { unreadable, userError } from "../../plan/problem.ts";
import { locate } from "../../runtime/files.ts";
import { createRandomFor, drawIndex } from "../../runtime/random.ts";
import type { AudioClip, PromptEntry } from "../../service/openai/prompt-entry.ts";
import { readPromptText, readStrings } from "./fields.ts";
import { type JsonRecord, readJsonLines } from "./json-lines.ts";
import { loadAudio, loadImage } from "./media.ts";
import { joinBefore, type PromptMaker } from "./prompt-maker.ts";

/**
 * Reads the requests of a JSON Lines file with `text` (or `text_input`), `image` or `images`, and `audio` or `audios`; or of all `.jsonl`
 * files of a folder, by name.
 * @throws UserError if a line is not valid
 */
export async function* readPrompts(path: string, maker: PromptMaker): AsyncGenerator<PromptEntry> {
  if (!(await isFolder(path))) {
    yield* readPromptFile(path, maker);
    return;
  }
  for (const file of await listFiles(path)) yield* readPromptFile(join(path, file), maker);
}

/**
 * Reads rankings from a folder with `queries.jsonl` and `passages.jsonl`: each query with the passages on the same line, up to the end of
 * the shorter file.
 * @throws UserError if a file is missing
 */
export async function* readRankings(path: string, maker: PromptMaker): AsyncGenerator<PromptEntry> {
  const files = (await isFolder(path)) ? await listFiles(path) : [];
  const missing = ["queries.jsonl", "passages.jsonl"].filter((name) => !files.includes(name));
  if (missing.length > 0) {
    const message = "Both 'queries.jsonl' and 'passages.jsonl' must be present in the input datasets";
    const hint = { say: "give-rankings", missing: missing.join(" and ") } as const;
    throw userError("missing", path, message, hint);
  }
  const passages = readPromptFile(join(path, "passages.jsonl"), maker);
  try {
    for await (const query of readPromptFile(join(path, "queries.jsonl"), maker)) {
      const { value, done } = await passages.next();
      if (done === true) return;
      yield { texts: query.texts.slice(0, 1), passages: value.texts };
    }
  } finally {
    await passages.return(undefined);
  }
}

/**
 * Yields one request per line. With larger batches, yields `entryCount` requests, each from different lines that are drawn
 * randomly.
 */
async function* readPromptFile(path: string, maker: PromptMaker): AsyncGenerator<PromptEntry> {
  const { textsPerRequest, imagesPerRequest, audioPerRequest } = maker.settings;
  if (Math.max(textsPerRequest, imagesPerRequest, audioPerRequest) > 1) {
    yield* drawBatches(path, maker);
    return;
  }
  let position = 0;
  for await (const record of readJsonLines(path)) {
    const slot = { list: basename(path), position: position++ };
    const content = await readContent(record, path);
    const { frame, prefix } = maker.opening(slot);
    const { output } = maker.lengths(slot);
    yield {
      texts: content.text === undefined ? [] : [joinBefore(prefix, content.text)],
      ...(content.images.length === 0 ? {} : { images: content.images }),
      ...(content.audio.length === 0 ? {} : { audio: content.audio }),
      ...frame,
      ...defined({ maxTokens: output }),
    };
  }
}

/** Reads all lines, because a batch may draw any line. */
async function* drawBatches(path: string, maker: PromptMaker): AsyncGenerator<PromptEntry> {
  const texts: string[] = [];
  const images: string[] = [];
  const clips: AudioClip[] = [];
  for await (const record of readJsonLines(path)) {
    const content = await readContent(record, path);
    if (content.text !== undefined) texts.push(content.text);
    images.push(...content.images);
    clips.push(...content.audio);
  }
  const { textsPerRequest, imagesPerRequest, audioPerRequest, entryCount } = maker.settings;
  checkBatch(path, "texts", textsPerRequest, texts.length);
  checkBatch(path, "images", imagesPerRequest, images.length);
  checkBatch(path, "sounds", audioPerRequest, clips.length);
  for (let position = 0; position < entryCount; position++) {
    const slot = { list: basename(path), position };
    const random = createRandomFor(maker.settings.seed, "batch", slot.list, position);
    const { frame, prefix } = maker.opening(slot);
    const { output } = maker.lengths(slot);
    const drawn = texts.length === 0 ? [] : drawSome(texts, textsPerRequest, random);
    yield {
      texts: drawn.map((text) => joinBefore(prefix, text)),
      ...(images.length === 0 ? {} : { images: drawSome(images, imagesPerRequest, random) }),
      ...(clips.length === 0 ? {} : { audio: drawSome(clips, audioPerRequest, random) }),
      ...frame,
      ...defined({ maxTokens: output }),
    };
  }
}

async function readContent(record: JsonRecord, path: string) {
  const text = readPromptText(record);
  const images = readStrings(record, "image", "images");
  const audio = readStrings(record, "audio", "audios");
  if (text === undefined && images.length + audio.length === 0) {
    const message = "has no 'text', 'text_input', 'image' or 'audio'";
    const hint = { say: "other-format" } as const;
    throw userError("missing", record.place, message, hint, Object.keys(record.value).join(", ") || "no keys");
  }
  const at = { path, place: record.place };
  return {
    text,
    images: await Promise.all(images.map((content) => loadImage(content, at))),
    audio: await Promise.all(audio.map((content) => loadAudio(content, at))),
  };
}

function checkBatch(path: string, what: string, wanted: number, available: number): void {
  if (available === 0 || wanted <= available) return;
  const message = `Batch size for ${what} cannot be larger than the number of available ${what}`;
  const hint = `Give at most ${available}, or add lines.`;
  throw userError("invalid-value", path, message, hint, `${wanted} of ${available}`);
}

function drawSome<T>(list: readonly T[], count: number, random: () => number): T[] {
  // Fisher-Yates: swap each position with a random one from there on. Only what was swapped is stored.
  const swapped = new Map<number, number>();
  return Array.from({ length: count }, (_, position) => {
    const drawn = position + drawIndex(random, list.length - position);
    const index = swapped.get(drawn) ?? drawn;
    swapped.set(drawn, swapped.get(position) ?? position);
    return list[index] as T;
  });
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(locate(path))).isDirectory();
  } catch (error) {
    throw unreadable(path, error, "Give the path of an existing file or folder.");
  }
}

async function listFiles(path: string): Promise<string[]> {
  const names = await readdir(locate(path)).catch((error: unknown) => {
    throw unreadable(path, error, "Give a folder that can be read.");
  });
  const files = names.filter((name) => name.endsWith(".jsonl")).sort();
  if (files.length > 0) return files;
  const message = `No JSONL files found in directory '${path}'`;
  throw userError("missing", path, message, "Give a folder with files ending in .jsonl.");
}
