import { type UserError, unreadable, userError } from "../../plan/problem.ts";
import { MOST_FILE_BYTES, openHandle, tooLarge } from "../../runtime/files.ts";

/** A line of a text file. */
export interface Line {
  /** Line number, from 1. */
  readonly number: number;
  /** Text without surrounding whitespace. */
  readonly text: string;
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Maximum length of a line, or of an object of several lines: 32 Mi characters. A request made from it takes about 16 times as much memory, and no
 * model reads a prompt of millions of tokens.
 */
export const MOST_LINE_CHARACTERS = 32 * 1024 * 1024;

/**
 * Yields the lines that are not blank. Only one line is in memory.
 * @param texts the file's text in pieces; default: the file is read
 * @throws UserError if the file cannot be read
 */
export async function* readLines(path: string, texts: AsyncIterable<string> = readText(path)): AsyncGenerator<Line> {
  let number = 0;
  // Join a line of many pieces only once, at its end: joining piece by piece would copy a long line repeatedly.
  let rest: string[] = [];
  let restLength = 0;
  for await (const text of texts) {
    const lines = text.split("\n");
    if (lines.length === 1) {
      rest.push(text);
      restLength += text.length;
      if (restLength > MOST_LINE_CHARACTERS) throw tooLong(path, number + 1);
      continue;
    }
    lines[0] = rest.join("") + lines[0];
    rest = [lines.pop() as string];
    restLength = rest[0]?.length ?? 0;
    for (const line of lines) {
      number++;
      const trimmed = line.trim();
      if (trimmed !== "") yield { number, text: trimmed };
    }
  }
  const last = rest.join("").trim();
  if (last !== "") yield { number: number + 1, text: last };
}

/** Returns the error for a line, or a value, that does not fit into memory. */
export function tooLong(path: string, line: number): UserError {
  const message = `is longer than ${MOST_LINE_CHARACTERS / 2 ** 20} MiB`;
  return userError("invalid-value", `${path}, line ${line}`, message, "Give a text file with shorter lines.");
}

/** Yields the file's text in pieces, decoded from UTF-8, without a byte order mark. @throws UserError if it cannot be read */
export async function* readText(path: string): AsyncGenerator<string> {
  const fail = (error: unknown): never => {
    throw unreadable(path, error, "Give the path of an existing file.");
  };
  const handle = await openHandle(path).catch(fail);
  try {
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(CHUNK_BYTES);
    // A pipe may be endless.
    let leftBytes = (await handle.stat()).isFile() ? Number.POSITIVE_INFINITY : MOST_FILE_BYTES;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null).catch(fail);
      if (bytesRead === 0) break;
      leftBytes -= bytesRead;
      if (leftBytes < 0) fail(tooLarge(MOST_FILE_BYTES));
      yield decoder.decode(buffer.subarray(0, bytesRead), { stream: true });
    }
    yield decoder.decode();
  } finally {
    await handle.close();
  }
}
