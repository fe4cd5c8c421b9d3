import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { OPTIONS, parseOptions } from "../../../src/cli/perf-analyzer/options/table.ts";
import { readSettings } from "../../../src/cli/perf-analyzer/settings.ts";
import { toPlan } from "../../../src/cli/perf-analyzer/to-plan.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { type Problem, UserError } from "../../../src/plan/problem.ts";
import { checkPlan } from "../../../src/registry/check-plan.ts";
import { findConflicts } from "../../../src/registry/conflicts.ts";
import { parseUrl } from "../../../src/run/open/endpoint.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { runCommand } from "./run-command.ts";

/** Wrong use of perf_analyzer mode is refused before anything connects to the server. */

let connectionCount = 0;
let onConnection = (): void => {};
const server = createServer((socket) => {
  connectionCount++;
  socket.destroy();
  onConnection();
});
let url = "";
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close());

/** Returns how many connections the server got; one of the test's own, which comes last, shows that it has seen all. */
async function countConnections(): Promise<number> {
  const seen = new Promise<void>((resolve) => {
    onConnection = resolve;
  });
  const { port } = server.address() as AddressInfo;
  connect(port, "127.0.0.1").on("error", () => {});
  await seen;
  return connectionCount - 1;
}

const PROTO = 'syntax = "proto3"; package a; message M { string text = 1; } service B { rpc C(M) returns (M); }';

/** Files of the command lines below. */
const FILES: Readonly<Record<string, string>> = {
  "a.proto": PROTO,
  "broken.proto": "syntax syntax",
  "broken.json": "{",
  "empty.json": '{"data": []}',
  "gaps.txt": "soon\n",
  "message.json": '{"data": [{"message": {"text": "a"}}]}',
  "payload.json": '{"data": [{"payload": [{"model": "m"}]}]}',
  "unknown-field.json": '{"data": [{"message": {"words": "a"}}]}',
  "unreadable.json": '{"data": [{"TORCHSERVE_INPUT": ["missing.jpg"]}]}',
};

const OPENAI = "-m x --service-kind openai --async";
const CALLS = "--service-kind dynamic_grpc --proto a.proto";
const TF = "-m x --service-kind tfserving -i grpc";
const TORCH = "-m x --service-kind torchserve";

/** Command lines, besides `-u`, and what the error names. */
const refused: readonly (readonly [args: string, named: string])[] = [
  // values
  ["-m x -b 0", "-b"],
  ["-m x --client grpc-js", "--client"],
  ["-m x -i grpc --client undici", "--client"],
  ["-m x --collect-metrics --metrics-url ftp://x", "--metrics-url"],
  ["-m x --request-intervals gaps.txt", "gaps.txt"],
  ["-m x --session-concurrency 2", "Session concurrency"],
  [`${OPENAI} --endpoint v1/c --input-data payload.json --session-concurrency 200000`, "--session-concurrency"],
  [`${OPENAI} --endpoint v1/c#d --input-data payload.json`, "--endpoint"],
  // what a kind cannot do
  [`${TF} --streaming`, "--streaming"],
  [`${TF} --shape IN:2 --shared-memory system`, "--shared-memory"],
  [`${TORCH} -i grpc --input-data unreadable.json`, "-i"],
  [`${CALLS} --grpc-method a.B/C --input-data message.json --fixed-schedule`, "--input-data"],
  // what a description says
  [`${CALLS} --grpc-method a.B/X --input-data message.json`, "a.B/C"],
  [`${CALLS} --grpc-method a.X/C --input-data message.json`, "a.B/C"],
  [`${CALLS} --grpc-method C --input-data message.json`, "--grpc-method"],
  [`${CALLS} --proto missing.proto --grpc-method a.B/C --input-data message.json`, "missing.proto"],
  [`${CALLS} --proto broken.proto --grpc-method a.B/C --input-data message.json`, "broken.proto"],
  // data that no model is needed for
  [`${OPENAI} --endpoint v1/c --input-data broken.json`, "broken.json"],
  [`${OPENAI} --endpoint v1/c --input-data empty.json`, "empty.json"],
  [`${OPENAI} --endpoint v1/c --input-data payload.json --session-concurrency 2`, "payload.json"],
  [`${OPENAI} --endpoint v1/c --input-data payload.json --fixed-schedule`, "payload.json"],
  [`${TORCH} --input-data broken.json`, "broken.json"],
  [`${TORCH} --input-data unreadable.json`, "missing.jpg"],
  [`${CALLS} --grpc-method a.B/C --input-data broken.json`, "broken.json"],
  [`${CALLS} --grpc-method a.B/C --input-data unknown-field.json`, "words"],
];

test("wrong use is refused without a connection to the server", async () => {
  const folder = makeFolder();
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  const isFileName = /^[\w-]+\.(json|proto|txt)$/;
  for (const [line, named] of refused) {
    connectionCount = 0;
    const args = line.split(" ").map((word) => (isFileName.test(word) ? join(folder, word) : word));
    const { code, err } = await runCommand(["-u", url, ...args]);
    assert.equal(code, 99, `${line}\n${err}`);
    assert.ok(err.includes(named), `${line}\n${err}`);
    assert.equal(await countConnections(), 0, `${line}\n${err}`);
  }
});

test("a connection is seen where the server is needed", async () => {
  connectionCount = 0;
  assert.equal((await runCommand(["-m", "x", "-u", url])).code, 99);
  assert.ok((await countConnections()) > 0);
});

/** A complete command line of each kind, and of loads that bring rules of their own. */
const complete: Readonly<Record<string, string>> = {
  triton: "-m x",
  "a stream": "-m x -i grpc --streaming",
  metrics: "-m x --collect-metrics",
  openai: `${OPENAI} --endpoint v1/c --input-data a.json`,
  sessions: `${OPENAI} --endpoint v1/c --input-data a.json --session-concurrency 2`,
  torchserve: `${TORCH} --input-data a.json`,
  tfserving: TF,
  dynamic_grpc: "--service-kind dynamic_grpc --grpc-method a.B/C --input-data a.json",
  triton_c_api: "-m x --service-kind triton_c_api --model-repository . --triton-server-directory .",
};

const oddValues = [
  ...["", "0", "-1", "0.5", "100", "1e300", "nan", "2147483648", "1:4", "4:1", "0:4", "1:4:0", "0.1:2:0.1"],
  ...["a", "a b", "a#b", "a:1", "IN:2", "IN:0", "a:1:int", "a.B/C", "-", ".", "a.json", "name;x"],
  ...["ftp://x", "http://", "https://x:1", ":8000", "x:99999", "[::1", "system", "json", "zero", "TIMESTAMPS", "OFF"],
];

/** Returns a command line's plan, and what is wrong with it that a run sees before it connects. */
function planOf(args: readonly string[]): { readonly plan: Plan; readonly problems: readonly Problem[] } {
  const { settings, problems } = readSettings(parseOptions(args));
  const { plan, problems: together } = toPlan(settings);
  const early = [...problems, ...together];
  if (early.length === 0) early.push(...findConflicts(plan), ...addressProblems(plan));
  return { plan, problems: early };
}

function addressProblems({ target }: Plan): readonly Problem[] {
  try {
    if ("url" in target) parseUrl(target.url, 1);
    return [];
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    return error.problems;
  }
}

for (const [name, line] of Object.entries(complete))
  test(`whatever a flag accepts is a valid plan: ${name}`, async () => {
    const folder = makeFolder();
    const file = writeIn(folder, "a.json", '{"data": []}');
    const at = (word: string): string => (word === "a.json" ? file : word === "." ? folder : word);
    const base = line.split(" ").map(at);
    assert.deepEqual(planOf(base).problems, []);
    for (const { names, value, choices } of OPTIONS) {
      const isSwitch = value === undefined && choices === undefined;
      for (const given of isSwitch ? [[]] : oddValues.map((one) => [at(one)])) {
        const args = [...base, names[0], ...given];
        const { plan, problems } = planOf(args);
        if (problems.length === 0) assert.doesNotThrow(() => checkPlan(plan), `refused too late: ${args.join(" ")}`);
      }
    }
  });
