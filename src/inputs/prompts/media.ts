import { dirname, extname, isAbsolute, join } from "node:path";
import { messageOf, type UserError, userError } from "../../plan/problem.ts";
import { loadFileBytes } from "../../runtime/files.ts";
import type { AudioClip } from "../../service/openai/prompt-entry.ts";

export interface MediaPlace {
  /** The file that names it. */
  readonly path: string;
  /** For example `prompts.jsonl, line 3`. */
  readonly place: string;
}

/**
 * Returns an image for a request: URLs stay unchanged, files become `data:image/png;base64,…`. Relative paths are searched in the working
 * directory, then next to the file that names them.
 * @throws UserError for files that are missing or neither PNG nor JPEG
 */
export async function loadImage(content: string, at: MediaPlace): Promise<string> {
  if (/^(https?:\/\/|data:)./.test(content)) return content;
  const bytes = await readMedia(content, at);
  const format = imageFormat(bytes);
  if (format === undefined) throw unsupported(content, at, "image", "PNG or JPEG");
  return `data:image/${format};base64,${bytes.toString("base64")}`;
}

/**
 * Returns an audio clip from a `.wav` or `.mp3` file, or from `data:audio/wav;base64,…`.
 * @throws UserError for files that are missing or have another type
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
      return await loadFileBytes(path);
    } catch (error) {
      problem ||= messageOf(error);
    }
  }
  const hint = "Give a path relative to the working directory or to the folder of this file, or a URL.";
  throw userError("unreadable", at.place, `'${content}' cannot be read: ${problem}`, hint);
}

function imageFormat(bytes: Uint8Array): "png" | "jpeg" | undefined {
  const starts = (...expected: number[]): boolean => expected.every((byte, index) => bytes[index] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47)) return "png";
  return starts(0xff, 0xd8, 0xff) ? "jpeg" : undefined;
}

function unsupported(content: string, at: MediaPlace, what: string, formats: string): UserError {
  const message = `'${content.slice(0, 80)}' is not a supported ${what}`;
  return userError("unsupported", at.place, message, `Convert it to ${formats}.`);
}
