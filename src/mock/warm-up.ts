import { Agent, request as requestHttp } from "node:http";
import { connect } from "node:http2";
import { DEFAULT_MOCK, type MockPlan } from "../plan/mock.ts";
import { sleepUnless } from "../runtime/clock.ts";
import { runtimeName } from "../runtime/runtime.ts";
import { EMBEDDED_LLM, EMBEDDED_MODEL } from "../service/embedded/target.ts";
import { encodeMessage } from "../service/protobuf/message.ts";
import { INFER_REQUEST } from "../service/triton/messages.ts";
import { frame } from "./grpc-frames.ts";
import { startMock } from "./server.ts";

/** The warm-up ends at the first of these. */
const MOST_MS = 200;
export const MOST_REQUESTS = 3000;

const NO_TIME = { kind: "constant", ms: 0 } as const;
const QUICK: MockPlan = {
  latency: NO_TIME,
  errorRatio: 0,
  responseBytes: 0,
  llm: { ...DEFAULT_MOCK.llm, firstToken: NO_TIME, tokenGapMs: 0 },
};

const ELEMENTS = 16;
const INPUTS = ["INPUT0", "INPUT1"];
const DATA = Array.from({ length: ELEMENTS }, (_, index) => index);
const INFER_BODY = JSON.stringify({
  inputs: INPUTS.map((name) => ({ name, shape: [1, ELEMENTS], datatype: "INT32", data: DATA })),
});
const CHAT_BODY = JSON.stringify({ model: EMBEDDED_LLM, stream: true, messages: [{ role: "user", content: "x" }] });

/**
 * Sends requests to another mock in this thread, which answers at once, so that the server's code is JIT-compiled before it is measured. The
 * mock's own counts do not change.
 */
export async function warmUpMock(): Promise<void> {
  const twin = await startMock(QUICK, { host: "127.0.0.1", httpPort: 0, grpcPort: 0 });
  try {
    const sending = Promise.all([
      repeatHttp(twin.httpPort, `/v2/models/${EMBEDDED_MODEL}/infer`, INFER_BODY),
      repeatHttp(twin.httpPort, "/v1/chat/completions", CHAT_BODY),
      // Deno's client for HTTP/2 is not reliable enough.
      runtimeName === "deno" ? undefined : repeatGrpc(twin.grpcPort),
    ]);
    // The start does not wait for an answer that never comes.
    await sleepUnless(MOST_MS * 2, sending);
  } finally {
    await twin.stop();
  }
}

/** Repeats requests one after the other, until one fails or a bound is reached. */
async function repeat(send: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + MOST_MS;
  for (let sent = 0; sent < MOST_REQUESTS && performance.now() < endMs; sent++) if (!(await send())) return;
}

async function repeatHttp(port: number, path: string, body: string): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const options = { host: "127.0.0.1", port, path, method: "POST", agent };
  await repeat(
    () =>
      new Promise((resolve) => {
        const sent = requestHttp(options, (response) => {
          response.on("error", () => resolve(false));
          response.on("end", () => resolve(true)).resume();
        });
        sent.on("error", () => resolve(false)).end(body);
      }),
  );
  agent.destroy();
}

async function repeatGrpc(port: number): Promise<void> {
  const bytes = new Uint8Array(Int32Array.from(DATA).buffer);
  const message = encodeMessage(INFER_REQUEST, {
    model_name: EMBEDDED_MODEL,
    inputs: INPUTS.map((name) => ({ name, datatype: "INT32", shape: [1, ELEMENTS] })),
    raw_input_contents: INPUTS.map(() => bytes),
  });
  const client = connect(`http://127.0.0.1:${port}`).on("error", () => {});
  const headers = {
    ":method": "POST",
    ":path": "/inference.GRPCInferenceService/ModelInfer",
    "content-type": "application/grpc",
  };
  await repeat(
    () =>
      new Promise((resolve) => {
        const call = client.request(headers);
        call.on("error", () => resolve(false)).on("end", () => resolve(true));
        call.resume().end(frame(message));
      }),
  );
  client.destroy();
}
