import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan } from "../../../src/plan/plan.ts";
import { runCommand } from "../../cli/perf-analyzer/run-command.ts";

/** `--service-kind triton_c_api`. What such a run measures is in `test/e2e/in-process.test.ts`. */

const KIND = ["-m", "simple", "--service-kind", "triton_c_api"];

test("--triton-server-directory and --model-repository say what --service-kind triton_c_api loads", async () => {
  const { code, out } = await runCommand([
    ...[...KIND, "--triton-server-directory", "/triton", "--model-repository", "/models", "--dry-run"],
  ]);
  assert.equal(code, 0);
  const { target } = JSON.parse(out) as Plan;
  assert.ok(target.kind === "triton-c-api");
  assert.equal(target.directory, "/triton");
  assert.equal(target.modelRepository, "/models");
});

test("Triton's directory has perf_analyzer's default", async () => {
  const { out } = await runCommand([...KIND, "--model-repository", "/models", "--dry-run"]);
  const { target } = JSON.parse(out) as Plan;
  assert.ok(target.kind === "triton-c-api");
  assert.equal(target.directory, "/opt/tritonserver");
});

for (const flag of ["--model-repository", "--triton-server-directory"])
  test(`${flag} has no effect on a server`, async () => {
    const { code, err } = await runCommand(["-m", "simple", flag, "/models", "--dry-run"]);
    assert.equal(code, 0, err);
    assert.ok(err.includes(`${flag} has no effect with --service-kind triton`), err);
  });

test("options of a connection, and of a server's traces, are ignored with a note, like in perf_analyzer", async () => {
  const plain = [...KIND, "--model-repository", "/m", "--dry-run"];
  const flags = [
    ...["-u", "localhost:8001", "-i", "grpc", "-H", "a:b", "--grpc-compression-algorithm", "gzip"],
    ...["--ssl-grpc-use-ssl", "--ssl-https-verify-peer", "0", "--output-tensor-format", "json"],
    ...["--trace-level", "TIMESTAMPS", "--trace-file", "t.json", "--log-frequency", "2"],
  ];
  const { code, out, err } = await runCommand([...plain, ...flags]);
  assert.equal(code, 0, err);
  assert.equal(out, (await runCommand(plain)).out);
  const names = flags.filter((flag) => /^-/.test(flag));
  const notes = names.map((flag) => `rampart: ${flag} has no effect with --service-kind triton_c_api.`);
  assert.deepEqual(err.trim().split("\n").sort(), notes.sort());
});

for (const [name, args, message] of [
  [
    "a page of metrics",
    [...KIND, "--model-repository", "/m", "--collect-metrics"],
    "only supported with Triton client",
  ],
  [
    "memory of a GPU",
    [...KIND, "--model-repository", "/m", "--shared-memory", "cuda"],
    "--shared-memory cuda cannot be used",
  ],
] as const) {
  test(`${args.at(-2)} is refused for ${name}`, async () => {
    const { code, err } = await runCommand([...args, "--dry-run"]);
    assert.equal(code, 99);
    assert.ok(err.includes(message), err);
  });
}
