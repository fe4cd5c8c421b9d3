import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { LIMIT } from "../time-limit.ts";
import { type LlmStream, type LlmStub, startLlmStub } from "./llm-stub.ts";

let stub: LlmStub;
before(async () => {
  stub = await startLlmStub({ ttftMs: 20, itlMs: 5, tokens: 4 });
});
after(() => stub?.stop());

const bodyOf = (stream: boolean): string =>
  JSON.stringify({ model: "tiny", messages: [{ role: "user", content: "Hi" }], stream });
const STREAM = bodyOf(true);

async function ask(stream: boolean): Promise<string> {
  const body = bodyOf(stream);
  return (await fetch(`http://127.0.0.1:${stub.port}/v1/chat/completions`, { method: "POST", body })).text();
}

test("a stream's tokens are counted, and leave no earlier than they are due", async () => {
  await stub.reset(true);
  const text = await ask(true);
  assert.equal(text.match(/"content":" the"/g)?.length, 4);
  assert.match(text, /data: \[DONE\]\n\n$/);
  // The stub counts and logs a request after it has sent its end.
  let counter = await stub.counter();
  let log = await stub.log();
  while (counter.requests === 0 || log.length === 0) [counter, log] = [await stub.counter(), await stub.log()];
  assert.deepEqual([counter.requests, counter.chunks], [1, 4]);
  const [one, ...others] = log;
  assert.ok(one !== undefined && others.length === 0);
  assert.ok(one.firstNs - one.receivedNs >= 20e6 && one.lastNs - one.receivedNs >= 35e6);
});

test("a whole answer has all tokens, and nothing is logged unless asked for", async () => {
  await stub.reset();
  const answer = JSON.parse(await ask(false)) as { choices: { message: { content: string } }[]; usage: object };
  assert.equal(answer.choices[0]?.message.content, " the the the the");
  assert.deepEqual(answer.usage, { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 });
  assert.deepEqual(await stub.log(), []);
});

/** Stops a process. Its threads run on until one of them has received the signal, so this waits until all have stopped. */
async function stop(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  const folder = `/proc/${pid}/task`;
  const state = (thread: string): string => readFileSync(`${folder}/${thread}/stat`, "utf8").split(") ")[1]?.[0] ?? "";
  while (!readdirSync(folder).every((thread) => state(thread) === "T")) await setTimeout(1);
}

test("a request is received when the system gets it, however late the server reads it", LIMIT, async () => {
  await stub.reset(true);
  const socket = connect(stub.port, "127.0.0.1");
  await once(socket, "connect");
  await stop(stub.pid);
  const request = `POST /v1/chat/completions HTTP/1.1\r\nConnection: close\r\nContent-Length: ${STREAM.length}\r\n\r\n${STREAM}`;
  // On loopback what is written has come.
  await new Promise((resolve) => socket.write(request, resolve));
  await setTimeout(300);
  process.kill(stub.pid, "SIGCONT");
  await once(socket.resume(), "close");
  let log = await stub.log();
  while (log.length === 0) log = await stub.log();
  const [{ receivedNs, firstNs }] = log as [LlmStream];
  assert.ok(firstNs - receivedNs > 200e6, `${(firstNs - receivedNs) / 1e6} ms`);
});
