import { readFile } from "node:fs/promises";
import { dirname, extname, isAbsolute, join } from "node:path";
import { messageOf, UserError } from "../../plan/problem.ts";
import type { AudioClip } from "../../service/openai/prompt-entry.ts";

/** Images and sounds that prompt files name. */

/** Where a media file is named. */
export interface MediaPlace {
  /** The file that names it. */
  readonly path: string;
  /** `prompts.jsonl, line 3`. */
  readonly place: string;
}

/**
 * An image as endpoints take it: addresses stay as they are, files become `data:image/png;base64,…` with their own bytes. Relative paths
 * are looked for in the working directory, then beside the file that names them.
 * @throws UserError for files that are away or neither PNG nor JPEG
 */
export async function loadImage(content: string, at: MediaPlace): Promise<string> {
  if (/^(https?:\/\/|data:)./.test(content)) return content;
  const bytes = await readMedia(content, at);
  const format = imageFormat(bytes);
  if (format === undefined) throw unsupported(content, at, "image", "PNG or JPEG");
  return `data:image/${format};base64,${bytes.toString("base64")}`;
}

/**
 * A sound clip: a `.wav` or `.mp3` file, or `data:audio/wav;base64,…`.
 * @throws UserError for files that are away or of another kind
 */
export async function loadAudio(content: string, at: MediaPlace): Promise<AudioClip> {
  const inline = /^(?:data:audio\/)?(wav|mp3)(?:;base64)?,(.*)$/s.exec(content);
  if (inline !== null) return { format: inline[1] as AudioClip["format"], base64: inline[2] as string };
  const format = extname(content).slice(1).toLowerCase();
  if (format !== "wav" && format !== "mp3") throw unsupported(content, at, "sound", "WAV or MP3");
  return { format, base64: (await readMedia(content, at)).toString("base64") };
}

async function readMedia(content: string, at: MediaPlace): Promise<Buffer> {
  const beside = isAbsolute(content) ? [] : [join(dirname(at.path), content)];
  let problem = "";
  for (const path of [content, ...beside]) {
    try {
      return await readFile(path);
    } catch (error) {
      problem ||= messageOf(error);
    }
  }
  throw new UserError([
    {
      path: at.place,
      message: `'${content}' cannot be read: ${problem}`,
      hint: "Give a file's path from the working directory or from the folder of this file, or an address.",
    },
  ]);
}

function imageFormat(bytes: Uint8Array): "png" | "jpeg" | undefined {
  const starts = (...expected: number[]): boolean => expected.every((byte, index) => bytes[index] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47)) return "png";
  return starts(0xff, 0xd8, 0xff) ? "jpeg" : undefined;
}

function unsupported(content: string, at: MediaPlace, what: string, formats: string): UserError {
  return new UserError([
    {
      path: at.place,
      message: `'${content.slice(0, 80)}' is no ${what} that can be sent`,
      hint: `Convert it to ${formats}.`,
    },
  ]);
}
