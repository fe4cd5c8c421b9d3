import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { wallMs } from "../../../src/runtime/clock.ts";
import { makeFolder } from "../../make-folder.ts";
import { endLater } from "../../servers/answering-server.ts";
import { closing, listen } from "../../servers/listen.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { type Captured, type CaptureOptions, readAll, runCaptured } from "./run-captured.ts";

/** A small server of streamed chats, and `genai-perf profile` against it. */

const CHAT = "-m tiny --endpoint-type chat --synthetic-input-tokens-mean 10 --num-dataset-entries 2";

export interface ChatRun extends Captured {
  /** When the command was started, on the clock of its times of day, which the system's time may have left when it was set. */
  readonly startedMs: number;
  /** Requests that the server got. */
  readonly requestCount: number;
  /** Files below the run's folder by their paths in it; folders are empty. */
  readonly files: ReadonlyMap<string, string>;
}

export interface ChatRunOptions extends CaptureOptions {
  /** Answers request `index`, from 0; default: {@link answerChat}. */
  readonly answer?: (response: ServerResponse, index: number) => void;
  /** Default `profile`. */
  readonly subcommand?: "analyze";
  /** Default true. */
  readonly isStreaming?: false;
}

/** Two tokens and the server's own counts. */
export function answerChat(response: ServerResponse): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
  response.write(event({ choices: [{ delta: { role: "assistant", content: "the" } }] }));
  const usage = { prompt_tokens: 12, completion_tokens: 2 };
  const last = event({ choices: [{ delta: { content: " the" }, finish_reason: "stop" }] });
  endLater(response, `${last}${event({ choices: [], usage })}data: [DONE]\n\n`);
}

/** Runs `profile` with further arguments. @param more given the run's folder */
export async function runChat(
  more: (folder: string) => readonly string[],
  options: ChatRunOptions = {},
): Promise<ChatRun> {
  const folder = makeFolder();
  let requestCount = 0;
  using server = closing(
    createServer((request, response) => {
      request.resume().on("end", () => (options.answer ?? answerChat)(response, requestCount++));
    }),
  );
  const url = `127.0.0.1:${await listen(server)}`;
  const places = ["--tokenizer", TINY, "--url", url, "--artifact-dir", join(folder, "artifacts")];
  const streaming = options.isStreaming === false ? [] : ["--streaming"];
  const command = [options.subcommand ?? "profile", ...CHAT.split(" "), ...streaming, ...places, ...more(folder)];
  const startedMs = wallMs();
  return { ...(await runCaptured(command, options)), startedMs, requestCount, files: await readAll(folder) };
}
