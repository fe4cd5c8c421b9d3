import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { answerChat as answerBench, withBench } from "./analyze-server.ts";
import { answerChat, runChat } from "./chat-server.ts";

/** What a profile shows beside its own report: `--live`, Rampart's reports, and perf_analyzer's, for which there is only a key in YAML. */

test("--live draws the run's state while it lasts, and is gone when the report comes", LIMIT, async () => {
  // The last response waits until the state was drawn after the first ones.
  const drawn = Promise.withResolvers<void>();
  const onErr = (text: string): void => {
    if (/completed 3 of 4, .*req\/s +tokens\/s +TTFT p50/s.test(text)) drawn.resolve();
  };
  const answer: typeof answerChat = (response, index = 0) => {
    if (index < 3) answerChat(response);
    else void drawn.promise.then(() => answerChat(response));
  };
  const { code, out, err } = await runChat(() => ["--request-count", "4", "--live"], {
    answer,
    onErr,
    errColumns: 160,
  });
  assert.equal(code, 0, err);
  assert.match(err, /00:0\d +1 user[\s\S]*75 % done[\s\S]*completed 3 of 4, failed 0, in flight 1/);
  assert.match(err, /req\/s +tokens\/s +TTFT p50[\s\S]*? 1 +[\d.]+ +[\d.]+ +[\d.,]+ [mu]s/);
  assert.ok(err.lastIndexOf("\u001b") === err.lastIndexOf("\u001b[J"), JSON.stringify(err.slice(-300)));
  assert.match(out, /Request Count/);
});

test("Ctrl-C removes the view from the terminal before anything else is printed", LIMIT, async () => {
  const listening = Promise.withResolvers<() => void>();
  let isAsked = false;
  const onErr = (text: string): void => {
    if (isAsked || !text.includes("completed")) return;
    isAsked = true;
    void listening.promise.then((interrupt) => interrupt());
  };
  const options = { onErr, errColumns: 160, onListening: listening.resolve };
  const { err } = await runChat(() => ["--request-count", "1000", "--live"], options);
  const [, after] = err.split("\u001b[?25h\u001b[Jrampart: ending the run");
  assert.ok(after !== undefined && !after.includes("\u001b"), JSON.stringify(err.slice(-300)));
});

test("--html, --junit and --markdown write Rampart's reports of a profile", LIMIT, async () => {
  const flags = (folder: string): string[] =>
    ["html", "junit", "markdown"].flatMap((name) => [`--${name}`, join(folder, name)]);
  const { code, err, files } = await runChat((folder) => ["--request-count", "4", ...flags(folder)], {});
  assert.equal(code, 0, err);
  assert.match(files.get("html") ?? "", /: 4 completed, 0 failed/);
  assert.match(files.get("junit") ?? "", /<testcase name="1 user is measured"/);
  assert.match(files.get("markdown") ?? "", /TTFT p99[\s\S]*: 4 completed, 0 failed/);
});

test("--watch-port serves the run's state, and --otlp sends its metrics", LIMIT, async () => {
  const collector = await startAnsweringServer((response) => response.end("{}"));
  const flags = ["--request-count", "4", "--watch-port", "0", "--otlp", collector.url];
  const { code, err } = await runChat(() => flags, {});
  collector.close();
  assert.equal(code, 0, err);
  assert.match(err, /the run can be watched at http:\/\/127\.0\.0\.1:\d+\//);
  assert.match(collector.received.at(-1)?.text ?? "", /"name":"rampart\.output_tokens"/);
  const wrong = await runChat(() => ["--request-count", "4", "--otlp", "ftp://host"], {});
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.err, /--otlp.*such as http:\/\/localhost:4318/s);
});

test("without --live nothing is drawn", LIMIT, async () => {
  const { code, err } = await runChat(() => ["--request-count", "20"], { errColumns: 160 });
  assert.equal(code, 0, err);
  assert.equal(err.includes("\u001b"), false);
});

for (const isVerbose of [false, true])
  test(`perf_analyzer.verbose: ${isVerbose} ${isVerbose ? "adds" : "leaves out"} perf_analyzer's report`, async () => {
    await withBench(answerBench, async (bench) => {
      const config = join(bench.folder, "config.yaml");
      const text = `model_name: tiny
endpoint: { type: chat, streaming: true, url: "${bench.url}" }
perf_analyzer: { verbose: ${isVerbose}, measurement: { mode: request_count, num: 6 } }
input: { num_dataset_entries: 4 }
tokenizer: { name: "${TINY}" }
output: { artifact_directory: "${join(bench.folder, "artifacts")}" }
`;
      await writeFile(config, text);
      const { code, out, err } = await bench.run(["config", "-f", config]);
      assert.equal(code, 0, err + out);
      assert.match(out, /Request Throughput/);
      assert.equal(/^\*\*\* Measurement Settings \*\*\*$/m.test(out), isVerbose, out);
    });
  });
