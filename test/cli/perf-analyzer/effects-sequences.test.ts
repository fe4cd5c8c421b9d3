import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { decodeMessage, type ProtoObject } from "../../../src/service/protobuf/message.ts";
import { INFER_REQUEST } from "../../../src/service/triton/messages.ts";
import { openTriton, type TritonAddresses } from "../../e2e/servers.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { KserveServer, type SeenInfer, takeMs } from "../../run/kserve-server.ts";
import { checkSequences, type SequenceRequest } from "../../run/send/sequence-traffic.ts";
import { LIMIT } from "../../time-limit.ts";
import { QUICK_WINDOWS, readProfile, runCommand, startCommand } from "./run-command.ts";

/** What the flags of sequences, periodic concurrency and fixed schedules do. */

const SEQUENCE_MODEL = {
  model: "seq",
  isSequence: true,
  inputs: [{ name: "IN", datatype: "INT32", dims: [1] }],
  outputs: [{ name: "OUT", datatype: "INT32", dims: [1] }],
} as const;

let triton: TritonAddresses;
before(async () => {
  triton = await openTriton();
});
after(async () => {
  await triton?.stop();
});

function readMark({ json }: SeenInfer): SequenceRequest {
  const { sequence_id: id, sequence_start: isStart, sequence_end: isEnd } = json.parameters as Record<string, unknown>;
  assert.equal(typeof id, "number");
  return { id: id as number, isStart: isStart === true, isEnd: isEnd === true };
}

/** Runs against a recording server and gives what it was sent. */
async function record(flags: readonly string[], use?: (server: KserveServer) => void): Promise<SequenceRequest[]> {
  await using server = await new KserveServer({ ...SEQUENCE_MODEL, onInfer: () => takeMs(1) }).start();
  use?.(server);
  const { code, err } = await runCommand(["-m", "seq", "-u", server.url, ...flags]);
  assert.equal(code, 0, err);
  return await server.infers.map(readMark);
}

test("--sequence-length and --sequence-length-variation set how long sequences are", LIMIT, async () => {
  const exact = ["--request-count", "60", "--sequence-length", "6", "--sequence-length-variation", "0"];
  assert.deepEqual(new Set(checkSequences(await record(exact)).lengths), new Set([6]));
  const varied = ["--request-count", "400", "--sequence-length", "10", "--sequence-length-variation", "50"];
  const { lengths } = checkSequences(await record(varied));
  // The last one may have been ended early.
  assert.ok(lengths.slice(0, -1).every((length) => length >= 5 && length <= 15));
  assert.ok(new Set(lengths).size > 3);
});

test("--sequence-id-range gives correlation ids, and fewer of them than sequences are refused", LIMIT, async () => {
  const flags = ["--request-count", "12", "--sequence-length", "2", "--sequence-length-variation", "0"];
  const ids = (await record([...flags, "--sequence-id-range", "100:103"])).map(({ id }) => id);
  assert.deepEqual(ids, [100, 100, 101, 101, 102, 102, 100, 100, 101, 101, 102, 102]);
  assert.equal((await record([...flags, "--sequence-id-range", "7"]))[0]?.id, 7);
  await using server = await new KserveServer(SEQUENCE_MODEL).start();
  const args = ["-m", "seq", "-u", server.url, "--concurrency-range", "4", "--sequence-id-range", "1:4"];
  const { code, err } = await runCommand(args);
  assert.equal(code, 99);
  assert.match(err, /^error: sequence id range .* possible concurrency,/);
  assert.match(err, /4 sequences are in flight at once/);
  assert.equal(server.infers.length, 0);
});

test("-b above 1 is refused for a model of sequences", LIMIT, async () => {
  await using server = await new KserveServer(SEQUENCE_MODEL).start();
  const { code, out, err } = await runCommand(["-m", "seq", "-u", server.url, "-b", "2"]);
  assert.equal(code, 99);
  assert.match(err, /^error: can not specify batch size > 1 when using a sequence model$/m);
  assert.equal(out, "");
  assert.equal(server.infers.length, 0);
});

test("--num-of-sequences is how many sequences a schedule has under way", LIMIT, async () => {
  const flags = ["--request-rate-range", "200", "--request-count", "200", "--sequence-length", "30"];
  assert.equal(checkSequences(await record(flags)).maxOpen, 4);
  assert.equal(checkSequences(await record([...flags, "--num-of-sequences", "2"])).maxOpen, 2);
});

test("sequences of a closed loop are one per request outstanding, and are ended with the run", LIMIT, async () => {
  const { maxOpen } = checkSequences(await record(["--concurrency-range", "3", ...QUICK_WINDOWS]));
  assert.equal(maxOpen, 3);
  // Interrupted, the run still ends what it has begun.
  await using server = await new KserveServer({ ...SEQUENCE_MODEL, onInfer: () => takeMs(1) }).start();
  const running = startCommand(["-m", "seq", "-u", server.url, "--concurrency-range", "3", "-p", "60000"]);
  await server.until(() => server.infers.length > 100);
  running.interrupt();
  await running.result;
  assert.equal(checkSequences(server.infers.map(readMark)).maxOpen, 3);
});

/** Most requests of one sequence that were under way at once, of what a gRPC run against the real server exported. */
async function mostAtOnce(flags: readonly string[]): Promise<number> {
  const folder = makeFolder();
  const file = join(folder, "profile.json");
  const args = ["-m", "simple_sequence", "-u", triton.grpc, "-i", "grpc", "--streaming", "--num-of-sequences", "1"];
  // One sequence, with far more requests due than the server can answer one after the other.
  const load = ["--request-rate-range", "3000", "--request-count", "3000", "--sequence-length", "50"];
  const { code, err } = await runCommand([...args, ...load, ...flags, "--profile-export-file", file]);
  assert.equal(code, 0, err);
  const requests = readProfile(file).experiments[0]?.requests ?? [];
  const events = requests.flatMap(({ timestamp, response_timestamps: [end = 0] }) => [
    { at: timestamp, change: 1 },
    { at: end, change: -1 },
  ]);
  let [now, most] = [0, 0];
  for (const { change } of events.sort((a, b) => a.at - b.at || a.change - b.change)) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}

test("--serial-sequences has a sequence wait for its response also on a stream", LIMIT, async () => {
  assert.ok((await mostAtOnce([])) > 1);
  assert.equal(await mostAtOnce(["--serial-sequences"]), 1);
});

test("--sync calls a sequence model synchronously, without ids; otherwise calls are asynchronous", LIMIT, async () => {
  await using server = await new KserveServer(SEQUENCE_MODEL).start();
  const args = ["-m", "seq", "-u", server.url, "--request-count", "3"];
  assert.match((await runCommand([...args, "--sync"])).out, /Using synchronous calls/);
  assert.deepEqual(new Set(server.infers.map(({ json }) => json.id)), new Set([""]));
  assert.match((await runCommand(args)).out, /Using asynchronous calls/);
  assert.equal(server.infers.at(-1)?.json.id, "3");
});

test("over gRPC every request has the parameters of its sequence", LIMIT, async () => {
  const { createGrpcCodec } = await import("../../../src/service/triton/grpc-codec.ts");
  const model = { name: "m", version: "2", maxBatchSize: 0, inputs: [], outputs: [] };
  const codec = createGrpcCodec(model, { isStreaming: true });
  for (const id of [1, 127, 128, 300_000, 2 ** 40]) {
    for (const [isStart, isEnd] of [
      [true, false],
      [false, true],
    ] as const) {
      const { payload, stampPlace } = codec.encode([], 3, codec.stampSequence?.({ id, isStart, isEnd }));
      const request = decodeMessage(INFER_REQUEST, payload);
      const parameters = request["parameters"] as Record<string, ProtoObject>;
      assert.deepEqual(
        [request["id"], parameters["sequence_id"], parameters["sequence_start"], parameters["sequence_end"]],
        ["000", { int64_param: id }, { bool_param: isStart }, { bool_param: isEnd }],
      );
      assert.equal(stampPlace?.idDigits, 3);
    }
  }
});

const REPEAT = {
  data: [
    {
      IN: { content: [1, 2, 3, 4], shape: [4] },
      DELAY: { content: [5, 5, 5, 5], shape: [4] },
      WAIT: [0],
    },
  ],
};

test("--periodic-concurrency-range sends groups of requests, paced by --request-period responses", LIMIT, async () => {
  const folder = makeFolder();
  const data = writeIn(folder, "data.json", JSON.stringify(REPEAT));
  const args = ["-m", "repeat_int32", "-u", triton.grpc, "-i", "grpc", "--streaming", "--input-data", data];
  for (const period of [1, 4]) {
    const file = join(folder, `profile-${period}.json`);
    const range = ["--periodic-concurrency-range", "2:8:3", "--request-period", String(period)];
    const { code, out, err } = await runCommand([...args, ...range, "--profile-export-file", file]);
    assert.equal(code, 0, err);
    assert.ok(!out.includes("Throughput"), "as in the original there is no report");
    assert.match(err, /^rampart: 8 requests with 32 responses, /m);
    const { requests = [] } = readProfile(file).experiments[0] ?? {};
    const sorted = requests.toSorted((a, b) => a.timestamp - b.timestamp);
    assert.equal(sorted.length, 8);
    // The second group is sent when every request of the first has brought so many responses, not before.
    const groups = [sorted.slice(0, 2), sorted.slice(2, 5), sorted.slice(5)];
    for (const [index, group] of groups.entries()) {
      const next = groups[index + 1];
      if (next === undefined) continue;
      const due = Math.max(...group.map(({ response_timestamps: times }) => times[period - 1] as number));
      const first = next[0]?.timestamp as number;
      assert.ok(first >= due, "a group came before its time");
      const last = Math.max(...group.map(({ response_timestamps: times }) => times[3] as number));
      if (period === 1) assert.ok(first < last, "a group waited for all responses of the one before");
    }
  }
  const profileFlags = ["--periodic-concurrency-range", "1:4:1", "--profile-export-file", join(folder, "p.json")];
  const few = await runCommand([...args, ...profileFlags, "--request-period", "6"]);
  assert.equal(few.code, 99);
  assert.match(few.err, /^error: Request received final response before /m);
});

test("--fixed-schedule sends every entry of the data once, at its time", LIMIT, async () => {
  const folder = makeFolder();
  const file = join(folder, "timed.json");
  const entry = (value: number, timestamp: unknown): object => ({ IN: [value], timestamp });
  writeFileSync(file, JSON.stringify({ data: [entry(1, [0]), entry(3, 120), entry(2, [60])] }));
  await using server = await new KserveServer({ ...SEQUENCE_MODEL, isSequence: false }).start();
  const args = ["-m", "seq", "-u", server.url, "--fixed-schedule", "--input-data", file];
  const startMs = performance.now();
  const { code, out, err } = await runCommand(args);
  assert.equal(code, 0, err);
  assert.match(out, /^ {2}Sending 3 benchmark requests$/m);
  const values = server.infers.map(({ binary }) => new DataView(binary.slice().buffer).getInt32(0, true));
  // On connections of their own, whose order a busy machine does not keep.
  assert.deepEqual(values.toSorted(), [1, 2, 3]);
  for (const [index, value] of values.entries()) {
    const atMs = (server.infers[index]?.arrivedMs ?? 0) - startMs;
    assert.ok(atMs >= 60 * (value - 1), `request ${value} came after ${atMs} ms, before it was due`);
  }
  writeFileSync(file, JSON.stringify({ data: [entry(1, [0]), { IN: [2] }, entry(3, "soon")] }));
  const wrong = await runCommand(args);
  assert.equal(wrong.code, 99);
  assert.match(wrong.err, /data\[1\].*missing tensor timestamp \( Location stream id: 0, step id: 1\)/);
  assert.match(wrong.err, /data\[2\].*timestamp is not a time/);
});

test("a range of concurrencies without an end is rejected for sequences, like in perf_analyzer", LIMIT, async () => {
  for (const flags of [[], ["-a"]]) {
    await using server = await new KserveServer(SEQUENCE_MODEL).start();
    const args = ["-m", "seq", "-u", server.url, "--concurrency-range", "1:0", "-l", "100", ...flags];
    const { code, err } = await runCommand(args);
    assert.equal(code, 99);
    assert.match(err, /The 'end' concurrency can not be 0 /);
    assert.equal(server.infers.length, 0);
  }
});
