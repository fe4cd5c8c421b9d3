import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestRecord } from "../../../src/result/request-record.ts";
import { RequestJudge } from "../../../src/run/judge/judge.ts";
import type { TargetSession } from "../../../src/run/open/session.ts";
import type { RequestFeed } from "../../../src/run/send/feed.ts";
import { Slots } from "../../../src/run/send/slots.ts";
import type { Service } from "../../../src/service/service.ts";
import { Call } from "../../../src/transport/call.ts";
import type { ResponseCheck } from "../../../src/transport/response-check.ts";
import { latin1, toText } from "../../transport/bytes.ts";

/** Kept responses of gRPC calls, of which each is a message of its own and which may be none. */

const check: ResponseCheck = {
  whole: (bytes, start, end) =>
    toText(bytes.slice(start, end)) === "bad" ? { reason: "it is bad", bytes: bytes.slice(start, end) } : undefined,
  begin: () => assert.fail("a message came whole"),
  piece: () => assert.fail("a message came whole"),
  event: () => assert.fail("a message is no event"),
  end: () => assert.fail("a message came whole"),
};

const service = {
  wire: "grpc-call",
  model: { outputs: [] },
  codec: {
    responseChecks: () => () => check,
    decode: (body: Uint8Array) => ({ outputs: body.slice(), describe: () => "" }),
    explain: (failure: unknown) => failure,
  },
} as unknown as Service;

const feed = { contentOf: () => ({ bytes: latin1("question") }), expectedOf: () => [], hasExpectations: false };

/** The failure of a call with these responses, and what its record holds. */
function judge(responses: readonly string[]): { message: string | undefined; recorded: string[] | undefined } {
  const records: RequestRecord[] = [];
  const judging = new RequestJudge({
    session: { service, shared: undefined } as TargetSession,
    feed: feed as unknown as RequestFeed,
    verbosity: 0,
    observer: { onRecord: (record) => records.push(record) },
  });
  const call = new Call(0);
  call.sendStartNs = 1000;
  call.endNs = 9000;
  call.responses = responses.map((text, index) => ({ readNs: 2000 + index, body: latin1(text), isEmpty: false }));
  call.responseCount = responses.length;
  call.messageCount = responses.length;
  call.body = call.responses.at(-1)?.body;
  const slots = new Slots();
  slots.steps[0] = 0;
  const failure = judging.judge(call, slots);
  return {
    message: failure?.message,
    recorded: records[0]?.responses.outputs.map((output) => toText(output as Uint8Array)),
  };
}

for (const { name, responses, message } of [
  { name: "no response", responses: [], message: undefined },
  { name: "an empty message", responses: [""], message: undefined },
  { name: "several messages", responses: ["a", "b", "c"], message: undefined },
  { name: "a bad message between good ones", responses: ["a", "bad", "c"], message: "it is bad" },
])
  test(`a call with ${name} is ${message === undefined ? "recorded with exactly these responses" : "a failed request"}`, () => {
    assert.deepEqual(judge(responses), { message, recorded: message === undefined ? responses : undefined });
  });
