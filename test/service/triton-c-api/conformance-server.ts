import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Fault, type RowServer, type ServerSettings, SLOW_MS, Traffic } from "../../conformance/row.ts";
import { makeFolder } from "../../make-folder.ts";

/**
 * For rows whose server the run starts in a process of its own: a model repository, and what its model does. The model asks this process
 * about each request, so that faults and counts are those of all other rows.
 */

/** The model in a repository. */
export const MODEL = "m";

/** What the model says of a request that has arrived. */
interface Arrived {
  readonly request: number;
  /** 0: the request belongs to no sequence. */
  readonly sequence: number;
  readonly start: boolean;
  readonly end: boolean;
}

/** What the model does for each fault; a silent one does nothing. */
const VERDICTS: Readonly<Partial<Record<Fault, string>>> = {
  error: "error",
  slow: "answer",
  close: "crash",
  break: "break",
  large: "large",
  huge: "large",
};

/** Returns how to start the control of a model, whose address is the folder of a model repository. */
export function modelRepositories(isDecoupled: boolean): (settings: ServerSettings) => Promise<RowServer> {
  return async (settings) => {
    const traffic = new Traffic();
    const connections = new Set<Socket>();
    const server = createServer((connection) => {
      connections.add(connection);
      connection.on("error", () => {}); // The process was ended.
      const lines = createInterface(connection);
      lines.on("error", () => {});
      lines.on("line", (line) => {
        // Another test may reach this port by chance, which it had before.
        if (line.startsWith("{")) void decide(JSON.parse(line) as Arrived, settings, traffic, connection);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const control = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const folder = writeRepository(control, settings.isSequence, isDecoupled);
    return {
      address: folder,
      traffic,
      stop: async () => {
        for (const connection of connections) connection.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  };
}

async function decide(
  { request, sequence: id, start: isStart, end: isEnd }: Arrived,
  { fault: faultOf, holdUntil }: ServerSettings,
  traffic: Traffic,
  connection: Socket,
): Promise<void> {
  const send = (verdict: string, isFirst: boolean): void => {
    connection.write(`${JSON.stringify({ request, verdict, isFirst })}\n`);
  };
  const index = traffic.arrive(id === 0 ? undefined : { id, isStart, isEnd });
  const fault = faultOf(index);
  const isLater = holdUntil !== undefined || fault === "slow" || fault === "silent";
  if (isLater) send("later", true);
  if (holdUntil !== undefined) await traffic.until(holdUntil);
  if (fault === "slow") await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
  traffic.end(fault);
  const verdict = fault === undefined ? "answer" : VERDICTS[fault];
  if (verdict !== undefined) send(verdict, !isLater);
}

/** Writes a repository with one model, of one input of four FP32 and one output. Returns its folder. */
function writeRepository(control: string, isSequence: boolean, isDecoupled: boolean): string {
  const folder = makeFolder();
  mkdirSync(join(folder, MODEL, "1"), { recursive: true });
  copyFileSync(join(import.meta.dirname, "controlled-model.py"), join(folder, MODEL, "1", "model.py"));
  const lines = [
    `name: "${MODEL}"`,
    'backend: "python"',
    "max_batch_size: 0",
    'input { name: "IN" data_type: TYPE_FP32 dims: 4 }',
    'output { name: "OUT" data_type: TYPE_FP32 dims: -1 }',
    "instance_group { count: 1 kind: KIND_CPU }",
    `parameters { key: "control" value { string_value: "${control}" } }`,
    `model_transaction_policy { decoupled: ${isDecoupled} }`,
    // Any number of sequences may be open at once, however long a busy machine stops this process.
    isSequence
      ? "sequence_batching { max_sequence_idle_microseconds: 600000000 oldest { max_candidate_sequences: 64 } }"
      : "",
  ];
  writeFileSync(join(folder, MODEL, "config.pbtxt"), `${lines.join("\n")}\n`);
  return folder;
}
