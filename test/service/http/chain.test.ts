import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { DataStep } from "../../../src/inputs/dataset.ts";
import { chainInputs } from "../../../src/inputs/kinds/chain.ts";
import type { Payload } from "../../../src/service/content.ts";
import { createChains } from "../../../src/service/http/chain.ts";
import type { ChainInputsPlan } from "../../../src/service/http/chain-plan.ts";
import type { BodyPlan } from "../../../src/service/http/requests-plan.ts";
import { NOT_JSON } from "../../../src/service/response-faults.ts";
import type { Conversation } from "../../../src/service/service.ts";
import type { Header } from "../../../src/transport/request.ts";
import { makeModel } from "../../inputs/make-model.ts";

/** What the requests of a chain have of the responses before them, and why a response is none to continue from. */

const TARGET = { server: { host: "a.example.com", isSecure: false }, path: "/", hasCookies: false } as const;

type Call = Partial<ChainInputsPlan["calls"][number]>;
type Users = ChainInputsPlan["users"];

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const json = (value: unknown): BodyPlan => ({
  form: "json",
  text: JSON.stringify(value),
});

async function load(calls: readonly Call[], users?: Users, showsValues?: true): Promise<readonly Payload[]> {
  const data = await chainInputs.load(
    {
      kind: "http-chain",
      count: 1,
      calls: calls.map((call, index) => ({ name: String(index + 1), method: "GET", ...call })),
      ...(users === undefined ? {} : { users }),
      ...(showsValues === undefined ? {} : { showsValues }),
    },
    makeModel([]),
    "in-sessions",
  );
  return (data.streams[0] ?? []).map(({ payload = encode(""), origin }: DataStep) => ({ bytes: payload, origin }));
}

/** Sends a call and takes its response. Returns why it has failed. */
function send(
  chain: Conversation,
  call: Payload | undefined,
  response: string,
  headers: Header[] = [],
): string | undefined {
  chain.nextRequest(call as Payload);
  return chain.takeValues?.([encode(response)], headers);
}

describe("a value goes into", () => {
  const VALUE = 'x"/y z%ü';
  const cases: readonly (readonly [place: string, call: Call, value: unknown, sent: RegExp | string])[] = [
    ["a path", { path: "/a/{{v}}?b={{ v }}" }, VALUE, "/a/x%22%2Fy%20z%25%C3%BC?b=x%22%2Fy%20z%25%C3%BC"],
    ["a whole path", { path: "{{v}}" }, "/jobs/1?x=%20", "/jobs/1?x=%20"],
    ["the beginning of a path", { path: "{{v}}/result" }, "/jobs/1", "/jobs/1/result"],
    ["a path as a URL", { path: "{{v}}" }, "https://host:1/jobs/1?x=2#part", "/jobs/1?x=2"],
    ["a path as a URL without one", { path: "{{v}}" }, "https://host", "/"],
    ["a header", { headers: [["A", "Bearer {{v}} {{v}}"]] }, "a b", /"Bearer a b a b"/],
    ["JSON text", { body: json({ a: "v={{v}}" }) }, VALUE, '{"a":"v=x\\"/y z%ü"}'],
    ["a whole JSON text", { body: json({ a: ["{{v}}", " {{v}}"] }) }, VALUE, '{"a":["x\\"/y z%ü"," x\\"/y z%ü"]}'],
    ["JSON as a number", { body: json({ a: "{{ v }}", b: "{{v}}0" }) }, 7.5, '{"a":7.5,"b":"7.50"}'],
    ["JSON as true", { body: json(["{{v}}"]) }, true, "[true]"],
    ["a JSON key", { body: json({ "{{v}}": "{{v}}" }) }, 3, '{"3":3}'],
    ["quoted JSON", { body: json({ a: '"{{v}}"' }) }, 3, '{"a":"\\"3\\""}'],
    ["a text", { body: { form: "text", text: "<{{v}}>" } }, VALUE, `<${VALUE}>`],
    ["bytes, not at all", { body: { form: "bytes", base64: btoa("{{v}}") } }, VALUE, "{{v}}"],
    [
      "a form",
      { body: { form: "multipart", parts: [{ name: "f", value: { form: "text", text: "f={{v}}" } }] } },
      VALUE,
      new RegExp(`name="f"\r\n\r\nf=${VALUE}\r\n`),
    ],
    ["nothing", { path: "/{v}/{{}}/{{ }}" }, VALUE, "/{v}/{{}}/{{ }}"],
  ];
  for (const [place, call, value, sent] of cases)
    test(place, async () => {
      const [first, second] = await load([{ extract: { v: "v" } }, call]);
      const chain = createChains(TARGET)(0);
      assert.equal(send(chain, first, JSON.stringify({ v: value })), undefined);
      const { bytes, request } = chain.nextRequest(second as Payload);
      const text = call.body === undefined ? (request?.path ?? JSON.stringify(request?.headers)) : decode(bytes);
      if (typeof sent === "string") assert.equal(text, sent);
      else assert.match(text, sent);
      if (call.body?.form === "json") JSON.parse(text);
    });
});

describe("a response has no value when", () => {
  const USED: Call = { path: "/a", headers: [["A", "{{v}}"]] };
  const cases: readonly (readonly [
    why: string,
    from: NonNullable<Call["extract"]>[string],
    response: string,
    Call?,
  ])[] = [
    [NOT_JSON, "v", "<html>"],
    ["the response has no body", "v", ""],
    ["v.w finds nothing in the response", "v.w", '{"v":{}}'],
    ["v finds nothing in the response", "v", '{"v":null}'],
    ["v finds a list, not a text or number", "v", '{"v":["a"]}'],
    ["v finds an object, not a text or number", "v", '{"v":{"a":1}}'],
    [
      "v finds a number with more digits than are kept: the server has to send it as text",
      "v",
      '{"v":9007199254740993}',
    ],
    ["its value has a character that no header can have", "v", '{"v":"a\\r\\nB: c"}'],
    ["its value is not a path or URL", "v", '{"v":"no path"}', { path: "{{v}}" }],
    ["the response has no header X-Id", { header: "X-Id" }, "{}"],
    ["the response sets no cookie sid", { cookie: "sid" }, "{}"],
  ];
  for (const [why, from, response, used = USED] of cases)
    test(why, async () => {
      const [first] = await load([{ name: "log in", extract: { v: from } }, used]);
      const said = send(createChains(TARGET)(0), first, response, [["Set-Cookie", "other=1"]]);
      assert.equal(said, `call "log in": no value for {{v}}: ${why}`);
    });

  test("it is a stream of events", async () => {
    const [first] = await load([{ extract: { v: "v" } }]);
    const chain = createChains(TARGET)(0);
    chain.nextRequest(first as Payload);
    assert.match(chain.takeValues?.([encode("{}"), encode("{}")], []) ?? "", /is a stream of events, not JSON/);
  });
});

test("headers and cookies are found whatever the letters of the header's name", async () => {
  const calls = await load([{ extract: { a: { header: "x-ID" }, b: { cookie: "sid" } } }, { path: "/{{a}}/{{b}}" }]);
  const chain = createChains(TARGET)(0);
  const headers: Header[] = [
    ["X-Id", "7"],
    ["set-cookie", "a=1"],
    ["SET-COOKIE", "sid=x=y; Path=/"],
  ];
  assert.equal(send(chain, calls[0], "no JSON at all", headers), undefined);
  assert.equal(chain.nextRequest(calls[1] as Payload).request?.path, "/7/x%3Dy");
});

test("users have values of their own, those of the scenario in turn, and chains begin without those of the one before", async () => {
  const [first, second] = await load(
    [{ extract: { v: "v" } }, { path: "/{{name}}/{{v}}" }],
    [{ name: "a" }, { name: "b" }],
  );
  const open = createChains(TARGET);
  const chains = [0, 1, 2].map(open);
  for (const [user, chain] of chains.entries()) send(chain, first, `{"v":${user}}`);
  const paths = chains.map((chain) => chain.nextRequest(second as Payload).request?.path);
  assert.deepEqual(paths, ["/a/0", "/b/1", "/a/2"]);
  assert.equal(open(0).nextRequest(second as Payload).request?.path, "/a/");
});

describe("a call that is sent once", () => {
  const CALLS: Call[] = [{ extract: { v: "v" }, isOnce: true }, { path: "/{{v}}" }];

  test("is left out of the user's later chains, which have its values", async () => {
    const [first, second] = (await load(CALLS)) as [Payload, Payload];
    const open = createChains(TARGET);
    assert.equal(open(0).skips?.(first), false);
    send(open(0), first, '{"v":"mine"}');
    const next = open(0);
    assert.deepEqual([next.skips?.(first), next.skips?.(second), open(1).skips?.(first)], [true, false, false]);
    assert.equal(next.nextRequest(second).request?.path, "/mine");
  });

  test("of chains of a user that log in at the same time, each continues with its own token and cookies", async () => {
    const [first, second] = (await load(CALLS)) as [Payload, Payload];
    const open = createChains(TARGET);
    const [one, other] = [open(0), open(0)];
    const cookie = (value: string): Header[] => [["set-cookie", `sid=${value}`]];
    send(one, first, '{"v":"one"}', cookie("1"));
    const later = open(0);
    assert.equal(later.skips?.(first), true);
    send(other, first, '{"v":"other"}', cookie("2"));
    const sent = [one, other, later].map((chain) => chain.nextRequest(second).request);
    assert.deepEqual(
      sent.map((request) => [request?.path, request?.headers?.at(-1)?.[1]]),
      [
        ["/one", "sid=1"],
        ["/other", "sid=2"],
        ["/one", "sid=1"],
      ],
    );
  });

  test("is sent again when it has failed, and when the server refuses the user", async () => {
    const [first, second] = (await load(CALLS)) as [Payload, Payload];
    const open = createChains(TARGET);
    send(open(0), first, "{}");
    assert.equal(open(0).skips?.(first), false);
    send(open(0), first, '{"v":"mine"}');
    const next = open(0);
    next.nextRequest(second);
    next.endTurn?.({ kind: "http", status: 503, message: "busy" });
    assert.equal(open(0).skips?.(first), true);
    next.endTurn?.({ kind: "http", status: 401, message: "who?" });
    assert.equal(open(0).skips?.(first), false);
  });
});

describe("secrets", () => {
  const CALLS: Call[] = [
    { extract: { v: "v", short: "short" } },
    { path: "/a", body: json({ v: "{{v}}", password: "{{password}}", name: "{{name}}", short: "{{short}}" }) },
  ];
  const USER = [{ name: "a known name", password: "pass-word" }];
  const RESPONSE = '{"v":"to\\"ken-1","short":"abc","again":"to\\"ken-1"}';

  test("are not in what exports show, which has the same size", async () => {
    const [first, second] = (await load(CALLS, USER)) as [Payload, Payload];
    const chain = createChains(TARGET)(0);
    const body = encode(RESPONSE);
    chain.nextRequest(first);
    assert.equal(chain.takeValues?.([body], []), undefined);
    assert.equal(decode(body), '{"v":"*********","short":"abc","again":"*********"}');
    const { bytes, shown } = chain.nextRequest(second);
    assert.match(decode(bytes), /to\\"ken-1.*pass-word.*a known name.*abc/);
    assert.match(decode(shown), /^\{"v":\*+,"password":\*+,"name":"a known name","short":"abc"\}$/);
    assert.equal(shown?.length, bytes.length);
    const { message } = chain.endTurn?.({ kind: "http", status: 403, message: 'no to"ken-1 of pass-word' }) ?? {};
    assert.equal(message, "no *** of ***");
  });

  test("are shown when the scenario asks for it", async () => {
    const [first, second] = (await load(CALLS, USER, true)) as [Payload, Payload];
    const chain = createChains(TARGET)(0);
    const body = encode(RESPONSE);
    chain.nextRequest(first);
    chain.takeValues?.([body], []);
    assert.equal(decode(body), RESPONSE);
    assert.equal(chain.nextRequest(second).shown, undefined);
    const failure = { kind: "http", message: 'to"ken-1' } as const;
    assert.equal(chain.endTurn?.(failure), failure);
  });
});

describe("cookies", () => {
  const cookieOf = (chain: Conversation, call: Payload | undefined): string | undefined =>
    chain.nextRequest(call as Payload).request?.headers?.find(([name]) => name === "Cookie")?.[1];
  const SID: Header[] = [["Set-Cookie", "sid=secret-1; Path=/"]];

  test("that a response sets are sent with the later calls of the chain, and not with the next chain", async () => {
    const [first, second] = await load([{ path: "/login" }, { path: "/me" }]);
    const open = createChains(TARGET);
    const chain = open(0);
    assert.equal(cookieOf(chain, first), undefined);
    send(chain, first, "{}", SID);
    assert.equal(cookieOf(chain, second), "sid=secret-1");
    assert.equal(cookieOf(open(0), second), undefined);
  });

  test("of a call that is sent once are the user's own, until the server refuses them", async () => {
    const [first, second] = (await load([{ path: "/login", isOnce: true }, { path: "/me" }])) as [Payload, Payload];
    const open = createChains(TARGET);
    send(open(0), first, "{}", SID);
    const next = open(0);
    assert.deepEqual([cookieOf(next, second), cookieOf(open(1), second)], ["sid=secret-1", undefined]);
    const failure = next.endTurn?.({ kind: "http", status: 401, message: "no session secret-1" });
    assert.equal(failure?.message.includes("secret-1"), false);
    assert.equal(cookieOf(open(0), second), undefined);
  });

  test("are not added where the call or the target says itself which are sent", async () => {
    const [first, second] = await load([{}, { headers: [["cookie", "own=1"]] }]);
    const chain = createChains(TARGET)(0);
    send(chain, first, "{}", SID);
    assert.deepEqual(chain.nextRequest(second as Payload).request?.headers, [["cookie", "own=1"]]);
    const other = createChains({ ...TARGET, hasCookies: true })(0);
    send(other, first, "{}", SID);
    assert.equal(cookieOf(other, first), undefined);
  });
});
