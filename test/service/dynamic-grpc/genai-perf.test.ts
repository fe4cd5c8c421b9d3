import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { readAll, runCaptured } from "../../cli/genai-perf/run-captured.ts";
import { makeFolder } from "../../make-folder.ts";
import { startGoDynamic } from "../../servers/dynamic.ts";
import { startStub } from "../../servers/stub.ts";

/** `--endpoint-type dynamic_grpc`: the texts of the input file are commands, and the messages that they write are calls of a method. */

const [go, stub] = await Promise.all([startGoDynamic(), startStub()]);
after(() => Promise.all([go.stop(), stub.stop()]));

/** Writes the messages `{"text": "1"}` and so on, each after its length. */
function commandOf(...texts: readonly string[]): string {
  return `for n in ${texts.join(" ")}; do printf '${"\\003\\000\\000\\000\\n\\001"}%s' $n; done`;
}

const jsonl = (...commands: readonly string[]): string =>
  commands.map((text) => `${JSON.stringify({ text })}\n`).join("");

/** Runs a profile whose files are in the folder that `{}` stands for. */
async function profile(port: number, method: string, commands: string, ...more: readonly string[]) {
  const folder = makeFolder();
  const [file, artifacts] = [join(folder, "in.jsonl"), join(folder, "artifacts")];
  await mkdir(artifacts);
  await writeFile(file, commands);
  const target = ["-u", `127.0.0.1:${port}`, "--endpoint-type", "dynamic_grpc", "--grpc-method", method];
  const common = ["profile", "-m", "mine", ...target, "--input-file", file, "--artifact-dir", artifacts];
  const ran = await runCaptured([...common, ...more]);
  const files = await readAll(artifacts);
  const textOf = (end: string): string => [...files].find(([path]) => path.endsWith(end))?.[1] ?? "";
  return { ...ran, paths: [...files.keys()], textOf };
}

const TALK = "demo.v1.Text/Talk";

test("a command's messages are one call, and the reports are GenAI-Perf's of answers without tokens", async () => {
  await go.reset();
  const commands = [commandOf("1", "2", "3"), commandOf("4")];
  const args = ["--request-count", "6", "--concurrency", "2", "-H", "X-Team:search"];
  const { code, out, err, paths, textOf } = await profile(go.port, TALK, jsonl(...commands), ...args);
  assert.equal(code, 0, err);
  assert.doesNotMatch(err, /prompt/, "messages are not prompts, so no note is about a cache of prompts");
  assert.deepEqual(await go.counter(), { calls: 6, received: 12, sent: 12, cancelled: 0 });
  assert.ok(paths.includes("mine-dynamic_grpc-dynamic_grpc-concurrency2"), paths.join());
  assert.deepEqual(JSON.parse(textOf("inputs.json")), {
    data: commands.map((message_generator) => ({ message_generator })),
  });
  const rows = [...out.matchAll(/│ +([A-Z][\w ]+\([\w ]+\)) │/g)].map(([, name]) => name);
  assert.deepEqual(rows, ["Request Latency (ms)", "Request Throughput (per sec)", "Request Count (count)"]);
  const report = JSON.parse(textOf("genai_perf.json"));
  assert.equal(report.request_count.avg, 6);
  assert.equal("output_sequence_length" in report, false);
  const { service_kind, output_format, grpc_method } = report.input_config.endpoint;
  assert.deepEqual([service_kind, output_format, grpc_method], ["dynamic_grpc", "dynamic_grpc", TALK]);
  const { service_kind: kind, experiments } = JSON.parse(textOf("profile_export.json"));
  const requests = experiments[0].requests as { response_timestamps: readonly number[] }[];
  assert.equal(kind, "dynamic_grpc");
  assert.deepEqual(requests.map(({ response_timestamps }) => response_timestamps.length).sort(), [1, 1, 1, 3, 3, 3]);
});

test("a method that nothing describes is called, and its empty messages are responses", async () => {
  await stub.reset();
  const args = ["--request-count", "4", "-H", "Stub-Responses:2"];
  const { code, err, textOf } = await profile(stub.grpcPort, "stub.Calls/BidiStream", jsonl(commandOf("1")), ...args);
  assert.equal(code, 0, err);
  const { calls, received, receivedBytes } = await stub.calls();
  assert.deepEqual({ calls, received, receivedBytes }, { calls: 4, received: 4, receivedBytes: 12 });
  assert.equal(JSON.parse(textOf("genai_perf.json")).request_count.avg, 4);
});

test("flags of perf_analyzer after -- are applied", async () => {
  await go.reset();
  const args = ["--request-count", "4", "--", "--max-threads", "1"];
  const { code, err } = await profile(go.port, TALK, jsonl(commandOf("1")), ...args);
  assert.equal(code, 0, err);
  assert.equal((await go.counter()).calls, 4);
});

test("a sweep calls with each load, and its exports are merged like others", async () => {
  await go.reset();
  const folder = makeFolder();
  const [file, hosts] = [join(folder, "in.jsonl"), join(folder, "hosts")];
  await writeFile(file, jsonl(commandOf("1")));
  const target = ["-u", `127.0.0.1:${go.port}`, "--endpoint-type", "dynamic_grpc", "--grpc-method", TALK];
  const common = ["-m", "mine", ...target, "--input-file", file, "--request-count", "4", "--artifact-dir"];
  const sweep = ["--sweep-type", "concurrency", "--sweep-list", "1,2"];
  const swept = await runCaptured(["analyze", ...common, join(folder, "sweep"), ...sweep]);
  assert.equal(swept.code, 0, swept.err);
  for (const host of ["a", "b"]) assert.equal((await runCaptured(["profile", ...common, join(hosts, host)])).code, 0);
  assert.equal((await go.counter()).calls, 16);
  const merged = await runCaptured(["process-export-files", "-d", hosts, "--artifact-dir", join(folder, "merged")]);
  assert.equal(merged.code, 0, merged.err);
  assert.match(merged.out, /Request Count \(count\) │ +8\.00 /);
});

describe("nothing is sent", () => {
  const cases: readonly (readonly [name: string, method: string, commands: string, more: string[], RegExp[]])[] = [
    [
      "for a command that fails",
      TALK,
      jsonl("echo 'no data today' >&2; exit 7"),
      [],
      [/data\[0\]: the message generator `.*` ended with exit code 7/, /no data today/],
    ],
    [
      "for a method that the service lacks",
      "demo.v1.Text/Tolk",
      jsonl(commandOf("1")),
      [],
      [
        /--grpc-method: there is no such method: the service has demo\.v1\.Text\/Collect/,
        /Did you mean demo\.v1\.Text\/Talk/,
      ],
    ],
    [
      "for a line without a command",
      TALK,
      '{"image": "http://h/a.png"}\n',
      [],
      [/has (?:images|a line without a command)/],
    ],
    [
      "in a dry run",
      TALK,
      jsonl(commandOf("1")),
      ["--dry-run"],
      [/nothing is sent and nothing written[\s\S]*the first: +\{"message_generator"/],
    ],
  ];
  for (const [name, method, commands, more, expected] of cases)
    test(name, async () => {
      await go.reset();
      const { code, err } = await profile(go.port, method, commands, ...more);
      assert.equal(code, more.length === 0 ? 1 : 0, err);
      for (const pattern of expected) assert.match(err, pattern);
      assert.equal((await go.counter()).calls, 0);
    });
});
