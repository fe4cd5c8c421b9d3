// Runs on: deno, node, executable.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { casesHere } from "../few-cases.ts";
import { recordNumbers, runWithReport } from "./command.ts";
import { openTriton, readServerCounts, type TritonAddresses, waitForCounts } from "./servers.ts";

/** Counts that add up: what Rampart says it sent, completed and failed is what Triton counted, the requests outside of windows included. */

let triton: TritonAddresses;
before(async () => {
  triton = await openTriton();
});
after(async () => {
  await triton?.stop();
});

interface Case {
  readonly name: string;
  readonly model?: string;
  readonly protocol: "http" | "grpc";
  readonly flags: readonly string[];
  /** How many requests the run sends, where that is fixed. */
  readonly count?: number;
}

/** Three windows are always stable within 999 %: this suite is about counts. */
const WINDOWS = ["-p", "150", "-s", "1000000", "-r", "20"];

const REPEAT = join(import.meta.dirname, "..", "golden", "inputs", "repeat.json");

const CASES: readonly Case[] = [
  { name: "HTTP, synchronous", protocol: "http", flags: ["--request-count", "500"], count: 500 },
  {
    name: "HTTP, 8 outstanding",
    protocol: "http",
    flags: ["--request-count", "500", "--concurrency-range", "8"],
    count: 500,
  },
  {
    name: "HTTP, asynchronous",
    protocol: "http",
    flags: ["-a", "--request-count", "500", "--concurrency-range", "8"],
    count: 500,
  },
  {
    name: "HTTP, JSON tensors",
    protocol: "http",
    flags: ["--input-tensor-format", "json", "--output-tensor-format", "json", "--request-count", "50"],
    count: 50,
  },
  { name: "HTTP, batches", protocol: "http", flags: ["-b", "8", "--request-count", "100"], count: 100 },
  {
    name: "HTTP, warm-up",
    protocol: "http",
    flags: ["--warmup-request-count", "25", "--request-count", "100"],
    count: 125,
  },
  {
    name: "HTTP, undici",
    protocol: "http",
    flags: ["--client", "undici", "--request-count", "200", "--concurrency-range", "4"],
    count: 200,
  },
  { name: "HTTP, windows and levels", protocol: "http", flags: ["--concurrency-range", "1:3", ...WINDOWS] },
  { name: "HTTP, request rate", protocol: "http", flags: ["--request-rate-range", "200", ...WINDOWS] },
  { name: "gRPC, synchronous", protocol: "grpc", flags: ["--request-count", "500"], count: 500 },
  {
    name: "gRPC, 8 outstanding",
    protocol: "grpc",
    flags: ["--request-count", "500", "--concurrency-range", "8"],
    count: 500,
  },
  {
    name: "gRPC, asynchronous",
    protocol: "grpc",
    flags: ["-a", "--request-count", "500", "--concurrency-range", "8"],
    count: 500,
  },
  {
    name: "gRPC, streaming",
    protocol: "grpc",
    flags: ["--streaming", "--request-count", "500", "--concurrency-range", "8"],
    count: 500,
  },
  {
    name: "gRPC, grpc-js",
    protocol: "grpc",
    flags: ["--client", "grpc-js", "--request-count", "200", "--concurrency-range", "4"],
    count: 200,
  },
  {
    name: "gRPC, streaming with grpc-js",
    protocol: "grpc",
    flags: ["--client", "grpc-js", "--streaming", "--request-count", "100"],
    count: 100,
  },
  { name: "gRPC, windows and levels", protocol: "grpc", flags: ["--concurrency-range", "1:3", ...WINDOWS] },
  {
    name: "gRPC, Poisson rate",
    protocol: "grpc",
    flags: ["--request-rate-range", "200", "--request-distribution", "poisson", ...WINDOWS],
  },
  {
    name: "sequences over HTTP",
    model: "simple_sequence",
    protocol: "http",
    flags: ["--request-count", "300", "--concurrency-range", "3", "--sequence-length", "7"],
  },
  {
    name: "sequences over gRPC, synchronous",
    model: "simple_sequence",
    protocol: "grpc",
    flags: ["--sync", "--concurrency-range", "1:2", ...WINDOWS],
  },
  {
    name: "sequences over a stream at a rate",
    model: "simple_sequence",
    protocol: "grpc",
    flags: ["--streaming", "--request-rate-range", "100:200:100", "--num-of-sequences", "3", ...WINDOWS],
  },
  {
    name: "sequences over a stream with grpc-js",
    model: "simple_sequence",
    protocol: "grpc",
    flags: ["--client", "grpc-js", "--streaming", "--request-count", "90", "--concurrency-range", "2"],
  },
  {
    name: "a decoupled model",
    model: "repeat_int32",
    protocol: "grpc",
    flags: ["--streaming", "--request-count", "30", "--concurrency-range", "3", "--input-data", REPEAT],
    count: 30,
  },
  {
    name: "a decoupled model with grpc-js",
    model: "repeat_int32",
    protocol: "grpc",
    flags: ["--client", "grpc-js", "--streaming", "--request-count", "10", "--input-data", REPEAT],
    count: 10,
  },
  {
    name: "strings",
    model: "identity_bytes",
    protocol: "http",
    flags: ["--shape", "INPUT0:4", "--string-length", "20", "--request-count", "60"],
    count: 60,
  },
  { name: "every data type", model: "alltypes", protocol: "grpc", flags: ["--request-count", "60"], count: 60 },
  { name: "an optional input", model: "optional_in", protocol: "http", flags: ["--request-count", "60"], count: 60 },
  {
    name: "a model that always fails",
    model: "raising",
    protocol: "http",
    flags: ["--max-error-rate", "100%", "--request-count", "40"],
    count: 40,
  },
  {
    name: "a model that always fails, over gRPC",
    model: "raising",
    protocol: "grpc",
    flags: ["--max-error-rate", "100%", "--request-count", "40"],
    count: 40,
  },
  {
    name: "a model that refuses each request in its response",
    model: "failing",
    protocol: "http",
    flags: ["--max-error-rate", "100%", "--request-count", "40"],
    count: 40,
  },
  {
    name: "a model that refuses each request in its response, over gRPC",
    model: "failing",
    protocol: "grpc",
    flags: ["--max-error-rate", "100%", "--request-count", "40"],
    count: 40,
  },
];
/** Models that answer nothing but errors. */
const FAILING = ["raising", "failing"];
/** One for each way in which bytes move, and each general client. */
const FEW = [
  ...["HTTP, undici", "HTTP, windows and levels", "gRPC, 8 outstanding", "gRPC, streaming", "gRPC, grpc-js"],
  ...["sequences over a stream at a rate", "sequences over a stream with grpc-js", "strings"],
  "a model that always fails, over gRPC",
];

describe("perf_analyzer mode: totals equal Triton's statistics", () => {
  for (const { name, model = "simple", protocol, flags, count } of casesHere(CASES, FEW)) {
    test(name, async () => {
      const earlier = await readServerCounts(triton.http, model);
      const address = protocol === "http" ? triton.http : triton.grpc;
      const args = ["perf_analyzer", "-m", model, "-i", protocol, "-u", address, ...flags];
      const { code, report, stdout, stderr } = await runWithReport(args);
      assert.equal(code, FAILING.includes(model) ? 99 : 0, `${stdout}\n${stderr}`);
      const { sent, completed, failed } = report.requests;
      const counts = await waitForCounts(
        triton.http,
        model,
        ({ success, fail }) => success + fail - earlier.success - earlier.fail >= sent,
      );
      const success = counts.success - earlier.success;
      const fail = counts.fail - earlier.fail;
      // Triton counts a refusal in a Python model's response as a success: the model ran.
      const served = model === "failing" ? { completed: fail, failed: success } : { completed: success, failed: fail };
      assert.deepEqual({ completed, failed, sent }, { ...served, sent: completed + failed });
      if (count === undefined) return;
      assert.equal(sent, count);
      recordNumbers(name, { sent, completed, failed, connections: report.connections });
    });
  }
});
