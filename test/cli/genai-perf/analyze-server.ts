import { readdir, readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { makeFolder } from "../../make-folder.ts";
import { closing } from "../../servers/listen.ts";
import { type Captured, readBody, runCaptured } from "./run-captured.ts";

/** A small server and a folder, for commands that run more than once against both. */

/** What a server got. */
export interface ReceivedBody {
  readonly messages?: readonly { readonly content: string }[];
  readonly input?: readonly string[];
  readonly max_tokens?: number;
}

/** Answers a request; `inFlight` counts this one too. */
export type Answer = (
  response: ServerResponse,
  request: { body: ReceivedBody; inFlight: number; index: number },
) => void;

/** What a command came to. */
export interface Ran extends Captured {
  /** Of this command only. */
  readonly received: readonly ReceivedBody[];
}

/** What a test works with. */
export interface Bench {
  readonly url: string;
  readonly folder: string;
  /** Runs `genai-perf`. @param onRequest called at each request with how to press Ctrl-C */
  run(args: readonly string[], onRequest?: (index: number, interrupt: () => void) => void): Promise<Ran>;
  /** A file's text, by its path in the folder. */
  read(...path: string[]): Promise<string>;
  list(...path: string[]): Promise<string[]>;
}

/** One streamed chat response. */
export const answerChat: Answer = (response) => {
  const event = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.end(`${event("the")}${event(" the")}data: [DONE]\n\n`);
};

/** Gives a test a server and a folder, and takes both away after it. */
export async function withBench(answer: Answer, body: (bench: Bench) => Promise<void>): Promise<void> {
  const folder = makeFolder();
  let received: ReceivedBody[] = [];
  let inFlight = 0;
  let onRequest: (index: number) => void = () => {};
  using server = closing(
    createServer(async (request, response) => {
      inFlight++;
      const end = response.end.bind(response);
      // Before the client can know of it and send the next.
      response.end = ((...args: Parameters<typeof end>) => {
        inFlight--;
        return end(...args);
      }) as typeof response.end;
      const got = JSON.parse(await readBody(request)) as ReceivedBody;
      received.push(got);
      onRequest(received.length - 1);
      answer(response, { body: got, inFlight, index: received.length - 1 });
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const run: Bench["run"] = async (args, hook) => {
    received = [];
    let interrupt = (): void => {};
    onRequest = (index) => hook?.(index, interrupt);
    const ran = await runCaptured(args, {
      onListening: (press) => {
        interrupt = press;
      },
    });
    return { ...ran, received };
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const read = (...path: string[]): Promise<string> => readFile(join(folder, ...path), "utf8");
  await body({ url, folder, run, read, list: async (...path) => (await readdir(join(folder, ...path))).toSorted() });
}
