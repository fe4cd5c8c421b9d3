import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, test } from "node:test";
import { describeDiagnosis } from "../../src/cli/failure-hints.ts";
import { inGenaiPerf } from "../../src/cli/genai-perf/setting-names.ts";
import { inPerfAnalyzer } from "../../src/cli/perf-analyzer/setting-names.ts";
import { inScenario } from "../../src/cli/setting-names.ts";
import { type NameOf, word } from "../../src/plan/messages.ts";
import type { Diagnosis } from "../../src/run/judge/diagnosis.ts";
import { type AnsweringServer, startAnsweringServer } from "../servers/answering-server.ts";
import { runRampart } from "./rampart-process.ts";
import { runGenaiPerf, runPerfAnalyzer, runScenario } from "./three-doors.ts";

/** Hints where users are wrong most: in each front door's words, and printed by each. */

const address = "h:8000";
const DIAGNOSES: readonly Diagnosis[] = [
  { code: "doubled-path", path: "/v1/v1/chat/completions", doubled: "v1" },
  { code: "no-key", status: 401 },
  { code: "key-refused", status: 403 },
  { code: "redirected", location: "https://h/x" },
  { code: "redirected", location: "" },
  { code: "grpc-port", address, port: 7999 },
  { code: "http-port", address, port: undefined },
  { code: "tls-port", address },
  { code: "plain-port", address },
  { code: "no-tls", address },
  { code: "untrusted-certificate", address },
  { code: "other-name", address },
  { code: "outdated-certificate", address },
  { code: "no-client-certificate" },
  { code: "openai-server", address },
  { code: "kserve-server", address },
  { code: "tfserving-server", address, asked: "kserve" },
];

function wordHint(diagnosis: Diagnosis, door: NameOf, protocol: "http" | "grpc"): string {
  return word(describeDiagnosis(diagnosis, protocol), door);
}

test("a server of another kind is named, with what it speaks and how to use it", () => {
  const hint = wordHint({ code: "tfserving-server", address, asked: "kserve" }, inScenario, "grpc");
  const said =
    "speaks TensorFlow Serving's API, not KServe v2 (Triton): use tfserving(…), or change the target's address.";
  assert.equal(hint, `The server at h:8000 ${said}`);
  const unknown = wordHint({ code: "tfserving-server", address, asked: "openai" }, inGenaiPerf, "http");
  assert.equal(unknown, "The server at h:8000 speaks TensorFlow Serving's API, not OpenAI's API: change --url.");
});

describe("hints are one line in the words of", () => {
  for (const diagnosis of DIAGNOSES) {
    for (const protocol of ["http", "grpc"] as const) {
      test(`scenarios: ${diagnosis.code}, ${protocol}`, () => {
        const hint = wordHint(diagnosis, inScenario, protocol);
        assert.match(hint, /^[^\n]+\.$/);
        assert.doesNotMatch(hint, /(^|\s)--?[a-z]/i);
      });
      for (const door of [inPerfAnalyzer, inGenaiPerf])
        test(`${door.name}: ${diagnosis.code}, ${protocol}`, () => {
          const hint = wordHint(diagnosis, door, protocol);
          assert.match(hint, /^[^\n]+\.$/);
          assert.doesNotMatch(hint, /apiKeyEnv|triton\(|openai\(|tls: true|protocol:/);
        });
    }
  }
});

async function withServer(
  answer: (response: ServerResponse) => void,
  use: (server: AnsweringServer) => Promise<void>,
): Promise<void> {
  using server = await startAnsweringServer(answer);
  await use(server);
}

describe("a run in which nothing succeeds ends with its hint", () => {
  test("in scenarios", () =>
    withServer(
      (response) => response.writeHead(401).end("no"),
      async ({ url }) => {
        assert.match(
          (await runScenario(url)).err,
          /^rampart: The server requires a key \(401\), .*: give it with apiKeyEnv/m,
        );
        const refused = await runScenario(url, ', apiKeyEnv: "HINT_KEY"');
        assert.match(refused.err, /^rampart: The server refused the key that was sent \(401\)/m);
        assert.equal(refused.code, 69);
      },
    ));

  test("in perf_analyzer mode, before the load and during it", () =>
    withServer(
      (response) => response.writeHead(307, { location: "https://elsewhere/v1" }).end(),
      async ({ url }) => {
        const loaded = await runPerfAnalyzer(url);
        assert.match(loaded.err, /^The server redirects to https:\/\/elsewhere\/v1: .*-u/m);
        assert.equal(loaded.code, 99);
        const early = await runRampart(["perf_analyzer", "-m", "m", "-u", url]);
        assert.match(early.err, /^ {2}The server redirects to https:\/\/elsewhere\/v1: .*-u/m);
        assert.equal(early.code, 99);
        assert.match((await runPerfAnalyzer(url, ["--max-error-rate", "100%"])).err, /The server redirects to /);
      },
    ));

  test("in genai-perf mode", () =>
    withServer(
      (response) => response.writeHead(404).end(),
      async ({ url }) => {
        const { code, err } = await runGenaiPerf(`${url}/v1`);
        assert.match(err, /^rampart: Requests went to \/v1\/v1\/chat\/completions, .* out of --url\.$/m);
        assert.equal(code, 1);
      },
    ));
});
