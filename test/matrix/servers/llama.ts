import { readFileSync } from "node:fs";
import { type Llama, startLlama } from "../../servers/llama.ts";
import type { MatrixServer } from "../row.ts";
import { embeddingsRow, llmRows } from "./llm-rows.ts";

/** Its metrics count no requests, but its log has a line at the end of each. */
const ENDED = /\bstop processing\b/g;

export const llamaServer: MatrixServer = {
  name: "llama.cpp",
  start: async () => {
    // With embeddings it does nothing else.
    const [server, embedding] = await Promise.all([startLlama(), startLlama({ isEmbedding: true })]);
    const { build_info: version } = (await (await fetch(`http://127.0.0.1:${server.port}/props`)).json()) as {
      build_info: string;
    };
    const count = ({ logFile }: Llama): number => readFileSync(logFile, "utf8").match(ENDED)?.length ?? 0;
    const rows = [
      ...llmRows(`127.0.0.1:${server.port}`, "tiny", async () => count(server)),
      { ...embeddingsRow(`127.0.0.1:${embedding.port}`, "tiny"), count: async () => count(embedding) },
    ];
    return {
      version,
      rows,
      stop: async () => {
        await Promise.all([server.stop(), embedding.stop()]);
      },
    };
  },
};
