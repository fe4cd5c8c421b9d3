import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { endLater } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { answerChat, type ChatRun, runChat } from "./chat-server.ts";

/**
 * What goes wrong in a profile: a request without a response is one failure, and the report is on all the others; a report that cannot be written
 * costs the user neither the table nor the others; and streams end well for HTTP, but without the mark that their protocol ends with.
 */

const silent = [
  { flags: ["--stall-timeout", "0.3s"], failure: /1 x stalled: no byte received for 300 ms/ },
  { flags: ["--timeout", "1.5s"], failure: /1 x timeout: no complete response within 1.5 s/ },
  { flags: ["--request-timeout-seconds", "1.5"], failure: /1 x timeout: no complete response within 1.5 s/ },
];
for (const { flags, failure } of silent) {
  test(`one silent request is one failure (${flags.join(" ")})`, LIMIT, async () => {
    const { code, out, err } = await runChat(() => ["--request-count", "6", ...flags], {
      answer: (response, index) => {
        if (index !== 2) answerChat(response);
      },
    });
    assert.equal(code, 1, err);
    assert.match(err, /1 of 6 requests failed; the statistics exclude them, except the counts:/);
    assert.match(err, failure);
    assert.match(out, /Request Count \(count\)[ │|]+5\.00/);
  });
}

const LOST = "profile_export_genai_perf.json";

test(
  "a report that cannot be written in the end is named, after the table and beside the other files",
  LIMIT,
  async () => {
    let artifacts = "";
    const more = (folder: string): string[] => {
      artifacts = join(folder, "artifacts");
      return ["--request-count", "3"];
    };
    const { code, out, err, files } = await runChat(more, {
      answer: (response, index) => {
        // A folder lies where the file is to go.
        if (index === 0) for (const name of readdirSync(artifacts)) mkdirSync(join(artifacts, name, LOST));
        answerChat(response);
      },
    });
    assert.equal(code, 1, err);
    assert.match(out, /Request latency/i);
    assert.match(err, /^Error: .*profile_export_genai_perf\.json cannot be written/m);
    const written = [...files.keys()].join("\n");
    assert.match(written, /profile_export_genai_perf\.csv/);
    assert.match(written, /profile_export_genai_perf_rampart\.json/);
  },
);

const REQUESTS = ["--request-count", "8", "--concurrency", "1"];

function answer(hasMark: (index: number) => boolean): (response: ServerResponse, index: number) => void {
  return (response, index) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const event = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
    response.write(event("the"));
    endLater(response, `${event(" the")}${hasMark(index) ? "data: [DONE]\n\n" : ""}`);
  };
}

/** The requests of the run with what is known of those that were measured. */
function requestsOf({ files }: ChatRun): Record<string, number> {
  const [, text = "{}"] = [...files].find(([path]) => path.endsWith("profile_export_genai_perf_rampart.json")) ?? [];
  const { requests, levels } = JSON.parse(text);
  const { withContent: measured, withoutEndMark } = levels[0].tokens;
  return { ...requests, measured, withoutEndMark };
}

describe("genai-perf profile of streams without their end mark", () => {
  test("those that others had: failures with their reason, the first of all too", LIMIT, async () => {
    const ran = await runChat(() => REQUESTS, {
      answer: answer((index) => index % 4 !== 0),
    });
    assert.equal(ran.code, 1, ran.err);
    assert.match(ran.err, /rampart: 2 of 8 requests failed/);
    assert.match(ran.err, / after 2 events without its end mark/);
    assert.match(ran.out, /Request Count \(count\) │ +6\.00/);
    const { completed, failed, measured, withoutEndMark } = requestsOf(ran);
    assert.deepEqual([completed, failed, measured, withoutEndMark], [6, 2, 6, 2]);
  });

  test("a server without end marks is measured, with a note", LIMIT, async () => {
    const ran = await runChat(() => REQUESTS, { answer: answer(() => false) });
    assert.equal(ran.code, 0, ran.err);
    assert.match(ran.err, /^rampart: no stream ended with its end mark .* may be cut short; .* in the statistics\.$/m);
    assert.match(ran.out, /Request Count \(count\) │ +8\.00/);
    const { failed, measured, withoutEndMark } = requestsOf(ran);
    assert.deepEqual([failed, measured, withoutEndMark], [0, 8, 8]);
  });

  test("there is no note when all streams have their end mark", LIMIT, async () => {
    const ran = await runChat(() => REQUESTS, { answer: answer(() => true) });
    assert.equal(ran.code, 0, ran.err);
    assert.doesNotMatch(ran.err, /end mark/);
    assert.equal(requestsOf(ran)["withoutEndMark"], 0);
  });
});
