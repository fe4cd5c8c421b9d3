import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ResponseTooLargeError } from "../../src/transport/failure.ts";
import { makeFolder } from "../make-folder.ts";
import { LIMIT } from "../time-limit.ts";
import { type AnsweringKserve, startHttp } from "./answering-kserve.ts";
import { runBounded } from "./bounded-process.ts";
import { assertEndsWell } from "./command.ts";

/** Responses without an end, of servers that are asked off the measured path: little memory and time, and the project's own words. */

const CHUNK = Buffer.alloc(256 * 1024, "a");
const COMMIT = "0123456789abcdef0123456789abcdef01234567";

const folder = makeFolder();
let kserve: AnsweringKserve<string>;
/** Answers everything with bytes that never end, as fast as they are read. */
const endless = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "x-repo-commit": COMMIT, etag: '"e"', "Content-Type": "application/json" });
  pour(response);
});
function pour(response: ServerResponse): void {
  if (response.destroyed) return;
  if (response.write(CHUNK)) setImmediate(() => pour(response));
  else response.once("drain", () => pour(response));
}
const urlOf = (): string => `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;

before(async () => {
  kserve = await startHttp();
  await new Promise<void>((resolve) => endless.listen(0, "127.0.0.1", resolve));
  await writeFile(join(folder, "x.yaml"), "name: x\ntarget: embedded\nload: { hold: { concurrency: 1, for: 2 s } }\n");
});
after(async () => {
  kserve.stop();
  endless.closeAllConnections();
  endless.close();
});

const TOO_LARGE = new RegExp(new ResponseTooLargeError(16 * 1024 * 1024).message);

const DOORS: readonly (readonly [name: string, line: string, said: RegExp, env?: Readonly<Record<string, string>>])[] =
  [
    [
      "a collector of metrics",
      "run DIR/x.yaml --otlp URL",
      /metrics could not be sent to .*: .* 1 MiB; the run continues/,
    ],
    [
      "a page of metrics",
      "perf_analyzer -m m -u KSERVE --request-count 50 --collect-metrics --metrics-url URL/metrics",
      TOO_LARGE,
    ],
    ["a model's metadata", "perf_analyzer -m m -u URL", TOO_LARGE],
    ["a list of models", "chat URL hello", TOO_LARGE],
    [
      "a tokenizer",
      "genai-perf profile -m m --endpoint-type chat --tokenizer a/b -u KSERVE --artifact-dir DIR/artifacts",
      /the response is longer than 256 MiB/,
      { HF_ENDPOINT: "URL", HF_HUB_CACHE: "DIR/hub", HF_HUB_OFFLINE: "" },
    ],
  ];

describe("endless responses", () => {
  for (const [name, line, said, env = {}] of DOORS)
    test(name, LIMIT, async () => {
      const fill = (text: string): string =>
        text.replace("DIR", folder).replace("KSERVE", kserve.url).replace("URL", urlOf());
      const filled = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, fill(value)]));
      const result = await runBounded(line.split(" ").map(fill), { env: filled, mostMiB: 1000 });
      assert.notEqual(result.code, null, `killed at ${result.peakMiB} MiB:\n${result.err.slice(0, 2000)}`);
      assertEndsWell({ ...result, code: result.code ?? -1, thrown: undefined }, [0, 1, 2, 64, 69, 99], line);
      assert.match(result.err, said);
      assert.doesNotMatch(result.err, /fetch\(|verbose/);
    });
});
