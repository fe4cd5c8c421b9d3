import { DYNAMO_MODEL, DYNAMO_VERSION, startDynamo } from "../../servers/interop/dynamo.ts";
import type { MatrixRow, MatrixServer } from "../row.ts";
import { embeddingsRow, llmRows } from "./llm-rows.ts";
import { sumMetric } from "./metrics.ts";

/** Dynamo's names of its APIs, in its metrics. */
const COUNTED: Readonly<Record<string, string>> = {
  "v1/chat/completions": "chat_completions",
  "v1/completions": "completions",
  "v1/responses": "responses",
  "v1/messages": "anthropic_messages",
};
const MOCKER = "the frontend responds, but its mocker wants max_output_tokens, which no parameter of a request sets";

export const dynamoServer: MatrixServer = {
  name: "NVIDIA Dynamo, mocker",
  golden: "dynamo",
  start: async () => {
    const { httpPort, grpcPort, stop } = await startDynamo();
    const url = `127.0.0.1:${httpPort}`;
    const count = (endpoint: string): Promise<number> =>
      sumMetric(
        `http://${url}/metrics`,
        new RegExp(`^dynamo_frontend_requests_total\\{endpoint="${COUNTED[endpoint]}".*status="success"`),
      );
    const grpc = ["-m", DYNAMO_MODEL, "-u", `127.0.0.1:${grpcPort}`, "-i", "grpc"];
    const rows: MatrixRow[] = [
      ...llmRows(url, DYNAMO_MODEL, count),
      { ...embeddingsRow(url, DYNAMO_MODEL), fails: /404/, why: "the mocker has no model of embeddings" },
      {
        protocol: "KServe over gRPC",
        flags: grpc,
        fails: /Streaming is not supported for this endpoint/,
        why: "the frontend only streams for this model",
      },
      {
        protocol: "KServe over a gRPC stream",
        flags: [...grpc, "--streaming"],
        fails: /max_output_tokens must be specified for mocker/,
        why: MOCKER,
      },
    ];
    return { version: DYNAMO_VERSION, rows, ports: { http: httpPort, grpc: grpcPort, metrics: httpPort }, stop };
  },
};
