import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Payload } from "../../../src/service/content.ts";
import { PayloadConversation } from "../../../src/service/openai/conversation.ts";

/** What a session's turns are sent with. */

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function turn(body: object): Payload {
  return { bytes: encode(JSON.stringify(body)) };
}

function textOf({ bytes }: Payload): string {
  return new TextDecoder().decode(bytes);
}

/** What is sent of these turns when these are the responses, read by read. */
function talk(endpoint: string, bodies: readonly object[], responses: readonly (readonly string[])[]): string[] {
  const conversation = new PayloadConversation(endpoint);
  return bodies.map((body, index) => {
    const sent = textOf(conversation.nextRequest(turn(body)));
    const problem = conversation.addResponse((responses[index] ?? []).map(encode));
    assert.equal(problem, undefined);
    return sent;
  });
}

const user = (content: unknown): object => ({ role: "user", content });
const assistant = (content: string): object => ({ role: "assistant", content });
const chatAnswer = (content: string): string[] => [
  JSON.stringify({ object: "chat.completion", choices: [{ message: { role: "assistant", content, refusal: null } }] }),
];
const chatEvents = (...deltas: readonly object[]): string[] => [
  ...deltas.map((delta) => `data: ${JSON.stringify({ object: "chat.completion.chunk", choices: [{ delta }] })}\n\n`),
  "data: [DONE]\n\n",
];

describe("conversations", () => {
  test("a chat's next turn has the messages before, the responses between, and its own keys in their places", () => {
    const body = (content: string): object => ({ model: "m", messages: [user(content)], max_tokens: 4 });
    const first = { model: "m", messages: [{ role: "system", content: "be brief" }, user("a ä")], max_tokens: 9 };
    const sent = talk("v1/chat/completions", [first, body("b"), body("c")], [chatAnswer("x"), chatAnswer("y")]);
    const said = [{ role: "system", content: "be brief" }, user("a ä"), assistant("x"), user("b")];
    assert.deepEqual(sent, [
      JSON.stringify(first),
      JSON.stringify({ model: "m", messages: said, max_tokens: 4 }),
      JSON.stringify({ model: "m", messages: [...said, assistant("y"), user("c")], max_tokens: 4 }),
    ]);
  });

  test("a streamed response is joined; reasoning is not sent back, and an empty response keeps its place", () => {
    const reads = chatEvents(
      { role: "assistant", content: "" },
      { reasoning_content: "hm" },
      { content: "x " },
      { content: "y" },
    );
    const bodies = ["a", "b", "c"].map((content) => ({ messages: [user(content)], stream: true }));
    const sent = talk("v1/chat/completions", bodies, [reads, chatEvents({ role: "assistant", content: "" })]);
    assert.deepEqual(JSON.parse(sent[2] ?? "").messages, [
      ...[user("a"), assistant("x y"), user("b")],
      ...[assistant(""), user("c")],
    ]);
  });

  test("content in parts stays as it is", () => {
    const parts = [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }];
    const [, second = ""] = talk(
      "v1/chat/completions",
      [{ messages: [user(parts)] }, { messages: [user("b")] }],
      [chatAnswer("x")],
    );
    assert.deepEqual(JSON.parse(second).messages, [user(parts), assistant("x"), user("b")]);
  });

  test("Anthropic's messages: the separate system message is sent with every turn", () => {
    const answer = ['{"type":"message","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"x"}]}'];
    const bodies = [
      { model: "m", messages: [user("a")], system: "brief" },
      { model: "m", messages: [user("b")] },
    ];
    const [, second = ""] = talk("v1/messages", bodies, [answer]);
    assert.deepEqual(JSON.parse(second), {
      model: "m",
      messages: [user("a"), assistant("x"), user("b")],
      system: "brief",
    });
  });

  test("the responses endpoint: items of its input, a text alone among them", () => {
    const answer = [
      '{"object":"response","output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}]}',
    ];
    const item = { role: "user", content: "b", type: "message" };
    const [, second = ""] = talk("v1/responses", [{ input: "a", instructions: "brief" }, { input: [item] }], [answer]);
    assert.deepEqual(JSON.parse(second), {
      input: [{ role: "user", content: "a", type: "message" }, { ...assistant("x"), type: "message" }, item],
      instructions: "brief",
    });
  });

  test("other kinds of requests are sent as they are", () => {
    const bodies = [{ prompt: ["a"] }, { prompt: ["b"] }];
    const sent = talk("v1/completions", bodies, [['{"object":"text_completion","choices":[{"text":"x"}]}']]);
    assert.deepEqual(
      sent,
      bodies.map((body) => JSON.stringify(body)),
    );
    const inputs = [{ input: ["a"] }, { input: ["b"] }];
    assert.deepEqual(
      talk("v1/embeddings", inputs, [['{"data":[]}']]),
      inputs.map((body) => JSON.stringify(body)),
    );
  });

  test("at an unknown path the response determines the kind, or else the request", () => {
    const bodies = [{ messages: [user("a")] }, { messages: [user("b")] }];
    for (const answer of [chatAnswer("x"), ['{"choices":[{"message":{"content":"x"}}]}']]) {
      const [, second = ""] = talk("my/path", bodies, [answer]);
      assert.deepEqual(JSON.parse(second).messages, [user("a"), assistant("x"), user("b")]);
    }
  });

  test("a stream without its end mark is complete, until another one of the run has had it", () => {
    const endMarks = { isSeen: false };
    const event = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
    const answerWith = (...events: readonly string[]): string | undefined => {
      const conversation = new PayloadConversation("v1/chat/completions", endMarks);
      conversation.nextRequest(turn({ messages: [user("a")] }));
      return conversation.addResponse(events.map(encode));
    };
    assert.equal(answerWith(event), undefined);
    assert.equal(answerWith(event, "data: [DONE]\n\n"), undefined);
    assert.match(
      answerWith(event) ?? "",
      /^the stream ended after one event without its end mark .*which other streams had$/,
    );
    assert.equal(answerWith('{"choices":[{"message":{"content":"x"}}]}'), undefined, "a whole response needs no mark");
  });

  test("an unreadable response is reported", () => {
    const conversation = new PayloadConversation("v1/chat/completions");
    conversation.nextRequest(turn({ messages: [user("a")] }));
    assert.match(conversation.addResponse([encode("data: {oops\n\n")]) ?? "", /unreadable response/);
  });
});
