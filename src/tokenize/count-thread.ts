import type { MessagePort } from "node:worker_threads";
import { loadTokenizer } from "./load-tokenizer.ts";
import { type CounterMessage, type CounterTask, type CountRequest, sendError } from "./token-counter.ts";

/** The thread's side of a `TokenCounter`: loads the tokenizer, says so and answers until it is ended. */
export async function serveTokenCounts(port: MessagePort, { name, options }: CounterTask): Promise<void> {
  const say = (message: CounterMessage): void => port.postMessage(message);
  try {
    const tokenizer = await loadTokenizer(name, options);
    port.on("message", ({ id, texts }: CountRequest) => {
      try {
        say({ kind: "counted", id, counts: texts.map((text) => tokenizer.count(text)) });
      } catch (error) {
        say({ kind: "not-counted", id, error: sendError(error) });
      }
    });
    say({ kind: "loaded" });
  } catch (error) {
    say({ kind: "failed", error: sendError(error) });
  }
}
