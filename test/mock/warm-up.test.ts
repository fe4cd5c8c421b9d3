import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { MockLlm } from "../../src/mock/llm.ts";
import { MockModel } from "../../src/mock/model.ts";
import { MOST_REQUESTS, warmUpMock } from "../../src/mock/warm-up.ts";
import { COLD } from "../../src/runtime/cold-start.ts";
import { runtimeName } from "../../src/runtime/runtime.ts";
import { LIMIT } from "../time-limit.ts";

/** Requests at a time: the last ones may end after the bound. */
const LANES = 12;

describe("a warm-up runs the mock's own code, in bounded time:", LIMIT, () => {
  const { infer } = MockModel.prototype;
  const { answer } = MockLlm.prototype;
  const cold = process.env[COLD] ?? "0";
  let counts = { infer: 0, answer: 0 };
  beforeEach(() => {
    delete process.env[COLD];
    counts = { infer: 0, answer: 0 };
    MockModel.prototype.infer = function (inputs) {
      counts.infer++;
      assert.deepEqual(
        [...inputs].map(([name, bytes]) => [name, bytes.length]),
        [
          ["INPUT0", 64],
          ["INPUT1", 64],
        ],
      );
      return infer.call(this, inputs);
    };
    MockLlm.prototype.answer = function (...given) {
      counts.answer++;
      return answer.apply(this, given);
    };
  });
  afterEach(() => {
    process.env[COLD] = cold;
    Object.assign(MockModel.prototype, { infer });
    Object.assign(MockLlm.prototype, { answer });
  });

  for (const kind of ["http", "grpc"] as const)
    test(`tensors over ${kind}`, async () => {
      await warmUpMock([kind]);
      // More than once over each connection, so the responses were understood.
      assert.ok(counts.infer > 3 * LANES && counts.infer <= MOST_REQUESTS, String(counts.infer));
      assert.equal(counts.answer, 0);
    });
  test("chats", async () => {
    await warmUpMock(["chat"]);
    assert.ok(counts.answer > 3 * LANES && counts.answer <= MOST_REQUESTS, String(counts.answer));
    assert.equal(counts.infer, 0);
  });
  test("all kinds by default", async () => {
    await warmUpMock();
    assert.ok(counts.answer > 0 && counts.infer > 0, JSON.stringify(counts));
  });
  test("is skipped when the mock is not measured", async () => {
    process.env[COLD] = "1";
    await warmUpMock();
    assert.deepEqual(counts, { infer: 0, answer: 0 });
  });
});

const SCHEDSTAT = "/proc/self/schedstat";
/** Requests that show how much of its code a mock still interprets, and those after which it is warm for certain. */
const FIRST = 400;
const UNTIL_WARM = 12_000;
/** A cold mock takes 4.6 times as much or more, a warm one up to 2.8 times on a busy machine: its connections are new too. */
const MOST_FACTOR = 3.6;

/** A cold mock costs more each time; a warm one seldom does, where other work takes its core. */
const MOST_MOCKS = 3;

test("the first requests to a mock cost little more of its CPU time than later ones", {
  skip: !existsSync(SCHEDSTAT),
  ...LIMIT,
}, async () => {
  const costs: string[] = [];
  for (let tried = 0; tried < MOST_MOCKS; tried++) {
    const { first, later } = await measureMock();
    if (first < MOST_FACTOR * later) return;
    costs.push(`${Math.round(first)} ns, later ${Math.round(later)} ns`);
  }
  assert.fail(costs.join("; "));
});

/** Starts a mock, and returns what a request costs at first and later, in nanoseconds of CPU time. */
async function measureMock(): Promise<{ readonly first: number; readonly later: number }> {
  const main = join(import.meta.dirname, "..", "..", "src", "main.ts");
  const flags = runtimeName === "deno" ? ["run", "-A", "--no-check"] : [];
  const child = spawn(process.execPath, [...flags, main, "mock", "--http-port", "0", "--grpc-port", "0"], {
    env: { ...process.env, [COLD]: "0" },
  });
  try {
    const port = await new Promise<number>((resolve, reject) => {
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (more: string) => {
        text += more;
        const [, found] = /http [^ ,]*:(\d+)/.exec(text) ?? [];
        if (found !== undefined) resolve(Number(found));
      });
      child.on("error", reject).on("exit", () => reject(new Error(`the mock ended: ${text}`)));
    });
    // Of the thread that serves, without those that compile: in nanoseconds.
    const cpuNs = (): number =>
      Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/schedstat`, "latin1").split(" ")[0]);
    const measure = async (count: number): Promise<number> => {
      const before = cpuNs();
      await sendMany(port, count);
      return (cpuNs() - before) / count;
    };
    const first = await measure(FIRST);
    await measure(UNTIL_WARM);
    return { first, later: await measure(4 * FIRST) };
  } finally {
    child.kill("SIGKILL");
  }
}

/** Sends requests over 8 connections. */
async function sendMany(port: number, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const parameters = { binary_data_size: 64 };
  const head = JSON.stringify({
    inputs: ["INPUT0", "INPUT1"].map((name) => ({ name, shape: [1, 16], datatype: "INT32", parameters })),
    outputs: ["OUTPUT0", "OUTPUT1"].map((name) => ({ name, parameters: { binary_data: true } })),
  });
  const body = Buffer.concat([Buffer.from(head), Buffer.alloc(128, 1)]);
  const headers = { "Content-Length": body.length, "Inference-Header-Content-Length": head.length };
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0)
      await new Promise<void>((resolve, reject) => {
        const options = { host: "127.0.0.1", port, path: "/v2/models/simple/infer", method: "POST", headers, agent };
        const sent = request(options, (response) => response.on("end", () => resolve()).resume());
        sent.on("error", reject).end(body);
      });
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  agent.destroy();
}
