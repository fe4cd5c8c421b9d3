import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { runCommandLine } from "../../../src/cli/commands.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";

/** Numbers of payloads, and the order of their keys, reach the server as they were written, in every mode. */

const NUMBERS =
  '"seed":9007199254740993,"max":18446744073709551615,"temperature":1.0,"big":1e400,"bias":{"50256":-100,"10":1.50}';

/** The different bodies that a server receives of a command line. @param args given the server's address without a scheme and a folder */
async function bodiesOf(args: (address: string, folder: string) => readonly string[]): Promise<string[]> {
  const folder = makeFolder();
  using server = await startAnsweringServer((response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end('{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":"the"}}]}');
  });
  let printed = "";
  const print = (text: string): void => {
    printed += text;
  };
  const io = { out: print, err: print, loadApi: () => Promise.resolve({}), onInterrupt: () => () => {} };
  const code = await runCommandLine("rampart", args(server.url.slice("http://".length), folder), io);
  assert.equal(code, 0, printed);
  return [...new Set(server.received.filter(({ method }) => method === "POST").map(({ text }) => text))];
}

const genai = (address: string, folder: string, ...more: readonly string[]): string[] => [
  ...["genai-perf", "profile", "-m", "tiny", "--endpoint-type", "chat", "--tokenizer", TINY, "--url", address],
  ...["--artifact-dir", join(folder, "artifacts"), "--request-count", "2", "--isl", "3", ...more],
];

describe("numbers of payloads are sent as written", () => {
  for (const [name, text] of [
    ["inputs.json", `{"data":[{"payload":[{ "b": 1, ${NUMBERS} }]}]}`],
    ["inputs.jsonl", `{ "b": 1, ${NUMBERS} }\n`],
  ] as const) {
    test(`perf_analyzer's openai kind, ${name}`, LIMIT, async () => {
      const bodies = await bodiesOf((address, folder) => {
        const file = writeIn(folder, name, text);
        const kind = ["--service-kind", "openai", "--endpoint", "v1/chat/completions", "--async"];
        return ["perf_analyzer", "-m", "m", "-u", address, ...kind, "--input-data", file, "--request-count", "2"];
      });
      assert.deepEqual(bodies, [`{"b":1,${NUMBERS}}`]);
    });
  }

  test("genai-perf, from a payload file", LIMIT, async () => {
    const bodies = await bodiesOf((address, folder) => {
      const file = writeIn(folder, "trace.jsonl", `{"timestamp":0.0,"text_input":"one 1.0",${NUMBERS}}\n`);
      return genai(address, folder, "--fixed-schedule", "--input-file", `payload:${file}`, "--request-count", "1");
    });
    assert.deepEqual(bodies, [`{"model":"tiny","messages":[{"role":"user","content":"one 1.0"}],${NUMBERS}}`]);
  });

  test("genai-perf, from --extra-inputs", LIMIT, async () => {
    const bodies = await bodiesOf((address, folder) =>
      genai(
        address,
        folder,
        "--num-dataset-entries",
        "1",
        "--extra-inputs",
        `{${NUMBERS}}`,
        "--extra-inputs",
        "n:9007199254740993",
      ),
    );
    assert.equal(bodies.length, 1);
    const [body = ""] = bodies;
    assert.ok(body.endsWith(`${NUMBERS},"n":9007199254740993}`), body);
  });

  test("genai-perf, from its YAML configuration", LIMIT, async () => {
    const bodies = await bodiesOf((address, folder) => {
      const file = join(folder, "config.yaml");
      const extra = "{seed: 9007199254740993, temperature: 1.0, bias: {50256: -100, 10: 1.50}}";
      const input = `input:\n  extra: ${extra}\n  num_dataset_entries: 1\n`;
      writeFileSync(file, `model_name: tiny\nendpoint:\n  type: chat\n  url: ${address}\n${input}`);
      const flags = ["--tokenizer", TINY, "--artifact-dir", join(folder, "artifacts"), "--request-count", "2"];
      return ["genai-perf", "config", "-f", file, "--override-config", ...flags];
    });
    const [body = ""] = bodies;
    assert.ok(body.endsWith('"seed":9007199254740993,"temperature":1.0,"bias":{"50256":-100,"10":1.50}}'), body);
  });
});
