import assert from "node:assert/strict";
import { test } from "node:test";
import { answerChat, runChat } from "./chat-server.ts";

/** A request without a response is one failure of a profile, whose report is on all the others. */

const LIMIT = { timeout: 180_000 };

const cases = [
  { flags: ["--stall-timeout", "0.3s"], failure: /1 x stalled: no byte received for 300 ms/ },
  { flags: ["--timeout", "0.4s"], failure: /1 x timeout: no complete response within 400 ms/ },
  { flags: ["--request-timeout-seconds", "0.4"], failure: /1 x timeout: no complete response within 400 ms/ },
];
for (const { flags, failure } of cases) {
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
