import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { runGenaiPerf } from "../../../src/cli/genai-perf/command.ts";

/** `genai-perf` within the test's process, and what tests of it read and name. */

/** What a command came to. */
export interface Captured {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CaptureOptions {
  /** Called with each text for stderr. */
  readonly onErr?: ((text: string) => void) | undefined;
  /** The terminal's width, where stderr is one. */
  readonly errColumns?: number | undefined;
  /** Called with what a Ctrl-C would call, once the command listens for it. */
  readonly onListening?: ((interrupt: () => void) => void) | undefined;
}

/** Runs `genai-perf ARGS` to its end. */
export async function runCaptured(
  args: readonly string[],
  { onErr, errColumns, onListening }: CaptureOptions = {},
): Promise<Captured> {
  const texts = { out: "", err: "" };
  const code = await runGenaiPerf([...args], "genai-perf", {
    out: (text) => {
      texts.out += text;
    },
    err: (text) => {
      texts.err += text;
      onErr?.(text);
    },
    errColumns,
    onInterrupt: (callback) => {
      onListening?.(() => callback("SIGINT"));
      return () => {};
    },
    loadApi: async () => ({}),
  });
  return { code, ...texts };
}

/** The whole body of a request. */
export async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const piece of request.setEncoding("utf8")) body += String(piece);
  return body;
}

/** The files below a folder by their paths in it, with their texts; those of its folders are empty. Empty where there is no such folder. */
export async function readAll(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of found) {
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(folder.length + 1), entry.isFile() ? await readFile(path, "utf8") : "");
  }
  return files;
}
