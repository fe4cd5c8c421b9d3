import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../../make-folder.ts";
import { type Answer, endLater, startAnsweringServer } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { runCaptured } from "./run-captured.ts";

/** A run is measured while it lasts. Its files, measured again by process-export-files, say the same to the last digit. */

const REQUESTS = 12;

const event = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
const EVENTS = { "Content-Type": "text/event-stream" };

/** Streams of several reads; some bring two events in one read, and one has no content. */
const answerStreams: Answer = (response, index) => {
  response.writeHead(200, EVENTS);
  if (index === 3) {
    response.end(`${event("")}data: [DONE]\n\n`);
    return;
  }
  response.write(event("The") + event(" first"));
  endLater(response, `${event(` answer ${index}`)}data: [DONE]\n\n`);
};

const answerVectors: Answer = (response) => {
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end('{"object": "list", "data": [{"object": "embedding", "embedding": [0.5, 0.25]}]}');
};

const answerTexts: Answer = (response, index) => {
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ choices: [{ message: { content: `The response ${index}` } }] }));
};

const CASES = [
  ["streams of chats", answerStreams, ["--endpoint-type", "chat", "--streaming"]],
  ["chats", answerTexts, ["--endpoint-type", "chat"]],
  ["embeddings", answerVectors, ["--endpoint-type", "embeddings"]],
  [
    "sessions",
    answerStreams,
    ["--endpoint-type", "chat", "--streaming", "--session-concurrency", "2", "--num-sessions", "4"],
  ],
] as const;

/** Lines of statistics; without those on the settings. */
function statisticsOf(text: string): unknown {
  const { input_config: _, ...statistics } = JSON.parse(text) as Record<string, unknown>;
  return statistics;
}

for (const [what, answer, args] of CASES)
  test(`a run of ${what} and its export measured again give the same statistics`, LIMIT, async () => {
    const folder = makeFolder();
    using server = await startAnsweringServer(answer);
    const load = args.some((arg) => arg.startsWith("--session")) ? [] : ["--request-count", String(REQUESTS)];
    const common = ["-m", "tiny", "--tokenizer", TINY, "--url", server.url, "--isl", "10"];
    const records = ["--records", join(folder, "records.jsonl")];
    const live = await runCaptured([
      ...["profile", ...common, ...args, ...load, ...records],
      ...["--artifact-dir", join(folder, "live"), "--num-dataset-entries", "5"],
    ]);
    assert.equal(live.code, 0, live.err);
    await mkdir(join(folder, "hosts"));
    const [name = ""] = await readdir(join(folder, "live"));
    const isFolder = name.endsWith("json") ? join(folder, "live") : join(folder, "live", name);
    await rename(isFolder, join(folder, "hosts", "one"));
    const merged = await runCaptured([
      ...["process-export-files", "-d", join(folder, "hosts"), "--artifact-dir", join(folder, "merged")],
    ]);
    assert.equal(merged.code, 0, merged.err);
    const found = await readdir(join(folder, "merged"), { recursive: true });
    for (const ending of ["genai_perf.json", "genai_perf.csv"]) {
      const again = found.find((path) => path.endsWith(ending)) ?? ending;
      const [first, second] = await Promise.all([
        readFile(join(folder, "hosts", "one", `profile_export_${ending}`), "utf8"),
        readFile(join(folder, "merged", again), "utf8"),
      ]);
      if (ending.endsWith("csv")) assert.equal(second, first);
      else assert.deepEqual(statisticsOf(second), statisticsOf(first));
    }
    const lines = (await readFile(join(folder, "records.jsonl"), "utf8")).trim().split("\n");
    assert.equal(lines.length, server.received.length);
  });
