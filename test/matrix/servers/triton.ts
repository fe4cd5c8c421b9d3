import { readdirSync } from "node:fs";
import { join } from "node:path";
import { installTriton, readCounts, startTriton } from "../../servers/triton.ts";
import type { MatrixRow, MatrixServer } from "../row.ts";

/** NVIDIA Triton, out of the wheel nvidia-pytriton. */

const DECOUPLED = join(import.meta.dirname, "..", "..", "golden", "inputs", "repeat.json");

export const tritonServer: MatrixServer = {
  name: "Triton",
  start: async () => {
    await checkOpenAi();
    const only = [
      "simple",
      "simple_string",
      "simple_sequence",
      "repeat_int32",
      "ensemble_two",
      "slow",
      "identity_fp32",
    ];
    const { httpPort, grpcPort, stop } = await startTriton({ only });
    const { version } = (await (await fetch(`http://127.0.0.1:${httpPort}/v2`)).json()) as { version: string };
    return { version, rows: rowsOf(httpPort, grpcPort), stop };
  },
};

function rowsOf(httpPort: number, grpcPort: number): MatrixRow[] {
  const row = (protocol: string, model: string, ...more: string[]): MatrixRow => ({
    protocol,
    flags: ["-m", model, "-u", `127.0.0.1:${more.includes("grpc") ? grpcPort : httpPort}`, ...more],
    count: async () => (await readCounts(httpPort, model)).success,
  });
  const json = ["--input-tensor-format", "json", "--output-tensor-format", "json"];
  const grpc = ["-i", "grpc"];
  const sequences = ["--sequence-length", "5", "--sequence-length-variation", "0"];
  return [
    row("KServe over HTTP", "simple"),
    row("KServe over HTTP, JSON tensors", "simple", ...json),
    row("KServe over HTTP, texts", "simple_string", "--string-data", "7"),
    row("KServe over HTTP, batches", "simple", "-b", "8"),
    row("KServe over HTTP, sequences", "simple_sequence", ...sequences),
    row("KServe over HTTP, an ensemble", "ensemble_two"),
    row("KServe over HTTP, system shared memory", "simple", "--shared-memory", "system"),
    row("KServe over gRPC", "simple", ...grpc),
    row("KServe over gRPC, compressed", "simple", ...grpc, "--grpc-compression-algorithm", "gzip"),
    row("KServe over a gRPC stream", "simple", ...grpc, "--streaming"),
    row("KServe over a gRPC stream, sequences", "simple_sequence", ...grpc, "--streaming", ...sequences),
    row("KServe over a gRPC stream, decoupled", "repeat_int32", ...grpc, "--streaming", "--input-data", DECOUPLED),
  ];
}

/** Throws if the wheel has an OpenAI frontend: then it needs rows of its own, and the guide another sentence. */
async function checkOpenAi(): Promise<void> {
  const files = readdirSync(join(await installTriton(), "site"), { recursive: true, encoding: "utf8" });
  if (files.some((file) => /openai/i.test(file))) throw new Error("the wheel has an OpenAI frontend: give it rows");
}
