import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, beforeEach, describe, test } from "node:test";
import { type AnsweringServer, type ReceivedRequest, startAnsweringServer } from "../../servers/answering-server.ts";
import { type ProcessResult, runRampart, startRampart } from "../rampart-process.ts";

/** `rampart chat`: what it shows of responses that a test decides. */

const MODELS = { object: "list", data: [{ id: "llama", object: "model" }] };

let server: AnsweringServer;
/** Answers questions; the list of models is answered before. */
let answer: (response: ServerResponse) => void;

before(async () => {
  server = await startAnsweringServer((response, index) => {
    if (server.received[index]?.path.endsWith("/models") === true) response.end(JSON.stringify(MODELS));
    else answer(response);
  });
});
after(() => server.close());
beforeEach(() => {
  answer = (response) => stream(response, [delta("Deep"), delta(" blue"), delta("."), usage(9, 3), "[DONE]"]);
});

/** @param gapMs time between events; a client on a busy machine may read events together that come sooner after each other */
function stream(response: ServerResponse, events: readonly string[], gapMs = 5): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (index: number): void => {
    if (index === events.length) {
      response.end();
      return;
    }
    // Each event leaves on its own.
    response.write(`data: ${events[index]}\n\n`, () => setTimeout(() => send(index + 1), gapMs));
  };
  send(0);
}

function delta(content: string): string {
  return JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
}

function usage(prompt_tokens: number, completion_tokens: number): string {
  return JSON.stringify({
    choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
    usage: { prompt_tokens, completion_tokens },
  });
}

/** The questions that the server got, without the lists of models. */
function questions(): readonly ReceivedRequest[] {
  return server.received.filter(({ path }) => !path.endsWith("/models"));
}

function chat(...args: readonly string[]): Promise<ProcessResult> {
  return runRampart(["chat", server.url, ...args]);
}

describe("rampart chat", () => {
  test("shows each piece with its time, and the counts of the server", async () => {
    answer = (response) => stream(response, [delta("Deep"), delta(" blue"), delta("."), usage(9, 3), "[DONE]"], 1500);
    const { code, out, err } = await chat("How is the sea?");
    assert.equal(code, 0, err);
    assert.match(out, /^llama at .*, chat: "How is the sea\?"\n/);
    for (const text of ['"Deep"', '" blue"', '"."']) assert.ok(out.includes(text), out);
    assert.match(out, /^ *TTFT +ITL mean +tokens\/s +e2e\n *\S+ [mu]?s +\S+ [mu]?s +\S+ +\S+ [mu]?s\n/m);
    assert.match(out, /pieces with text +3\n/);
    assert.match(out, /output tokens +3 by the server\n/);
    assert.match(out, /input tokens +9 by the server\n/);
    assert.match(out, /finish reason +stop\n/);
    assert.doesNotMatch(out, /warning/);
    const request = questions().at(-1);
    const body = JSON.parse(request?.text ?? "") as Record<string, unknown>;
    assert.equal(questions().length, 1);
    assert.deepEqual(
      [request?.path, body["model"], body["stream"], body["messages"]],
      ["/v1/chat/completions", "llama", true, [{ role: "user", content: "How is the sea?" }]],
    );
  });

  test("takes an address with the path of the API", async () => {
    for (const path of ["/v1", "/v1/chat/completions"]) {
      const { code, out, err } = await runRampart(["chat", `${server.url}${path}`]);
      assert.equal(code, 0, out + err);
      assert.equal(questions().at(-1)?.path, "/v1/chat/completions");
    }
  });

  test("counts with a tokenizer, and warns when the server counts otherwise", async () => {
    answer = (response) => stream(response, [delta("Deep"), delta(" blue"), delta(" sea"), usage(4, 30), "[DONE]"]);
    const { code, out } = await chat("Hi", "--tokenizer", "o200k_base");
    assert.equal(code, 0, out);
    assert.match(out, /output tokens +3 by o200k_base, 30 by the server\n/);
    assert.match(out, /^ {2}note {2}o200k_base counts 3 output tokens and the server 30/m);
  });

  test("counts by the server with the tokenizer none", async () => {
    const { code, out, err } = await chat("Hi", "--tokenizer", "none");
    assert.equal(code, 0, out + err);
    assert.match(out, /output tokens +3 by the server\n/);
  });

  test("warns of a response that is not streamed", async () => {
    answer = (response) => stream(response, [delta("Deep blue."), "[DONE]"]);
    const { out } = await chat("Hi");
    assert.match(out, /output tokens +not counted/);
    assert.match(out, /^ {2}note {2}The whole response came at once/m);
  });

  test("reports no rate of tokens that came together, and warns", async () => {
    const deltas = Array.from({ length: 10 }, (_, i) => `data: ${delta(` ${i}`)}\n\n`).join("");
    answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(deltas);
      const last = `${deltas}data: ${usage(9, 20)}\n\ndata: [DONE]\n\n`;
      setTimeout(() => response.end(last), 1000);
    };
    const { code, out, err } = await chat("Hi", "--json", "-");
    assert.equal(code, 0, out);
    assert.match(err, /^ *TTFT +e2e\n/m);
    assert.match(err, /pieces with text +20, which came in 2 bunches\n/);
    assert.match(err, /^ {2}note {2}18 of 20 events came together with the one before/m);
    const json = JSON.parse(out) as Record<string, unknown>;
    assert.deepEqual([json["interTokenLatencyUs"], json["outputTokensPerSec"]], [undefined, undefined]);
  });

  test("takes a response in one read as not streamed", async () => {
    const events = [delta("Deep"), delta(" blue"), usage(9, 2), "[DONE]"].map((one) => `data: ${one}\n\n`).join("");
    answer = (response) => response.writeHead(200, { "content-type": "text/event-stream" }).end(events);
    const { out } = await chat("Hi");
    assert.match(out, /^ {2}note {2}The whole response came at once/m);
    assert.doesNotMatch(out, /tokens\/s/);
  });

  test("does not blame the server for pieces that arrived while this client did not run", async () => {
    const chatting = startRampart(["chat", server.url, "Hi"]);
    answer = (response) => {
      chatting.interrupt("SIGSTOP");
      response.once("finish", () => setTimeout(() => chatting.interrupt("SIGCONT"), 200));
      stream(response, [delta("Deep"), delta(" blue"), usage(9, 2), "[DONE]"]);
    };
    const { code, out, err } = await chatting.result;
    assert.equal(code, 0, err);
    assert.match(
      out,
      /^ {2}note {2}The whole response came at once: this client looked late, by\s+up\s+to\s+\S+\s+m?s\.\s+Ask\s+again\.$/m,
    );
  });

  test("ends at the timeout where only comments of the stream come, or pieces of the list of models", async () => {
    const trickle = (response: ServerResponse, type: string, text: string): void => {
      response.writeHead(200, { "content-type": type });
      const timer = setInterval(() => response.write(text), 100);
      response.on("close", () => clearInterval(timer));
    };
    answer = (response) => trickle(response, "text/event-stream", ": ping\n\n");
    const asked = await chat("--timeout", "2s", "--model", "llama");
    assert.equal(asked.code, 69);
    assert.match(asked.err, /in time\. .* --timeout\.\n$/);
    using slow = await startAnsweringServer((response) => trickle(response, "application/json", " "));
    const { code, err } = await runRampart(["chat", slow.url, "--timeout", "2s"]);
    assert.equal(code, 69);
    assert.match(err, /list of models: .* no complete response within 2 s\. Look at the server\.\n$/);
  });

  test("shows control characters of a response as text", async () => {
    answer = (response) => stream(response, [delta("\u001b[31mred"), delta("!"), "[DONE]"]);
    const { out } = await chat("Hi");
    assert.ok(!out.includes("\u001b"), out);
    assert.match(out, /red/);
  });

  for (const [endpoint, path] of [
    ["completions", "/v1/completions"],
    ["responses", "/v1/responses"],
    ["messages", "/v1/messages"],
  ] as const)
    test(`asks ${endpoint}`, async () => {
      await chat("Hi", "--endpoint", endpoint, "--osl", "7");
      assert.equal(questions().at(-1)?.path, path);
      assert.match(questions().at(-1)?.text ?? "", /"(max_tokens|max_output_tokens|max_completion_tokens)":7/);
    });

  test("ends with 69 and the reason when the server fails", async () => {
    answer = (response) => {
      response.writeHead(500, { "content-type": "application/json" });
      response.end('{"error":{"message":"out of memory"}}');
    };
    const { code, out, err } = await chat("Hi");
    assert.equal(code, 69, out);
    assert.match(err, /the request failed: .*out of memory/);
  });

  test("names the option of a key that is missing", async () => {
    const locked = await startAnsweringServer((response) => response.writeHead(401).end("no key"));
    const { code, err } = await runRampart(["chat", locked.url]);
    locked.close();
    assert.equal(code, 69, err);
    assert.match(err, /401.*give it with --api-key-env NAME/);
  });

  test("writes the response with its times and counts as JSON", async () => {
    answer = (response) => stream(response, [delta("Deep"), delta(" blue"), delta("."), usage(9, 3), "[DONE]"], 1000);
    const { code, out, err } = await chat("Hi", "--tokenizer", "o200k_base", "--json", "-");
    assert.equal(code, 0, err);
    const json = JSON.parse(out) as Record<string, unknown> & { readonly pieces: { readonly afterSendUs: number }[] };
    const { url, model, endpoint, question, text, finishReason, tokenizer, warnings } = json;
    assert.deepEqual([url, model, endpoint, question, text], [server.url, "llama", "chat", "Hi", "Deep blue."]);
    assert.deepEqual([finishReason, warnings], ["stop", []]);
    assert.deepEqual([tokenizer, json["inputTokens"], json["outputTokens"]], ["o200k_base", 1, 3]);
    assert.deepEqual([json["serverInputTokens"], json["serverOutputTokens"]], [9, 3]);
    const times = json.pieces.map(({ afterSendUs }) => afterSendUs);
    assert.ok(times.length >= 1 && times.every((time, i) => time >= (times[i - 1] ?? 0)), times.join());
    assert.equal(json["timeToFirstTokenUs"], times[0]);
    assert.ok((json["latencyUs"] as number) >= (times.at(-1) ?? 0));
    // The text for people goes elsewhere.
    assert.match(err, /TTFT/);
  });

  test("writes the failure as JSON", async () => {
    answer = (response) => response.writeHead(500).end("out of memory");
    const { code, out } = await chat("Hi", "--json", "-");
    assert.equal(code, 69);
    assert.match((JSON.parse(out) as { readonly failure: string }).failure, /500|out of memory/);
  });

  test("ends with 69 when nothing answers", async () => {
    const { code, err } = await runRampart(["chat", "127.0.0.1:9", "-m", "x"]);
    assert.equal(code, 69);
    assert.match(err, /127\.0\.0\.1:9|refused/i);
  });

  test("names all mistakes at once", async () => {
    const { code, err } = await runRampart(["chat", "--osl", "0", "--timeout", "soon", "--endpoint", "chats"]);
    assert.equal(code, 64);
    for (const name of ["URL", "--osl", "--timeout", "--endpoint"]) assert.ok(err.includes(name), err);
  });
});
