import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, test } from "node:test";
import { endLater } from "../../servers/answering-server.ts";
import { type ChatRun, runChat } from "./chat-server.ts";

/** `genai-perf profile` of streams that end well for HTTP, and without the mark that their protocol ends with. */

const LIMIT = { timeout: 180_000 };
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
  const { requests: measured, withoutEndMark } = levels[0].tokens;
  return { ...requests, measured, withoutEndMark };
}

describe("genai-perf profile of streams without their end mark", () => {
  test("those that others had: failures with their reason, the first of all too", LIMIT, async () => {
    const ran = await runChat(() => REQUESTS, {
      answer: answer((index) => index % 4 !== 0),
    });
    assert.equal(ran.code, 1, ran.err);
    assert.match(
      ran.err,
      /rampart: 2 of 8 streams ended without their end mark \(\[DONE\] or a finish_reason\): .*failed/,
    );
    assert.match(ran.err, /the first that is not valid: the stream ended after 2 events without its end mark/);
    assert.match(ran.out, /Request Count \(count\) │ +6\.00/);
    const { completed, failed, measured, withoutEndMark } = requestsOf(ran);
    assert.deepEqual([completed, failed, measured, withoutEndMark], [6, 2, 6, 2]);
  });

  test("a server without end marks is measured, with a note", LIMIT, async () => {
    const ran = await runChat(() => REQUESTS, { answer: answer(() => false) });
    assert.equal(ran.code, 0, ran.err);
    assert.match(
      ran.err,
      /rampart: 8 of 8 streams ended without their end mark .*may be cut short; .* in the statistics/,
    );
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
