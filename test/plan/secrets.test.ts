import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  isSecretName,
  maskSecrets,
  maskText,
  readApiKey,
  registerArguments,
  registerHeaders,
  registerUrl,
  withoutSecrets,
} from "../../src/plan/secrets.ts";
import { createPayloadCodec } from "../../src/service/openai/codec.ts";
import { createHttpCodec } from "../../src/service/triton/http-codec.ts";
import { makePlan } from "./make-plan.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("secrets", () => {
  test("secrets are recognized by their names", () => {
    const secret = "Authorization proxy-authorization Cookie X-API-Key api_key apikey x-goog-api-key key X-Auth sig";
    for (const name of `${secret} X-Amz-Security-Token access_token client-secret password Ocp-Apim-Subscription-Key`.split(
      " ",
    ))
      assert.ok(isSecretName(name), name);
    for (const name of "X-Team Content-Type keyboard author X-Monkey traceparent X-Request-Id".split(" "))
      assert.ok(!isSecretName(name), name);
  });

  const texts: readonly (readonly [what: string, text: string, masked: string])[] = [
    ["a key", "no such key: kq-Aa1+/= here", "no such key: *** here"],
    ["a key in a query", "GET /?k=kq-Aa1%2B%2F%3D", "GET /?k=***"],
    ["a key with quotes", 'bad key qu"ote\\d-value', "bad key ***"],
    ["a key with quotes in JSON", '{"error":"bad key qu\\"ote\\\\d-value"}', '{"error":"bad key ***"}'],
    [
      "a key with quotes in JSON in JSON",
      String.raw`"{\"error\":\"qu\\\"ote\\\\d-value\"}"`,
      String.raw`"{\"error\":\"***\"}"`,
    ],
    ["a cookie", "cookie session=c00kie-value; theme=dark", "cookie ***"],
    ["a cookie's value", "who is c00kie-value?", "who is ***?"],
    ["the login of Basic", "hello ada:pa55word-7", "hello ***"],
    ["the password of Basic", "hello pa55word-7", "hello ***"],
    ["a word", "the latest word is test-; shrt, shrts", "the latest word is test-; ***, shrts"],
    ["figures", '{"a":1234,"b":true}', '{"a":1234,"b":true}'],
    ["the password of an address", "cannot reach http://ada:l0gin-pass@host", "cannot reach http://***@host"],
    ["a key of an address", "host/?api_key=qu3ry-key&n=1", "host/?api_key=***&n=1"],
    ["a part of another word", "prefixkq-Aa1+/=suffix", "prefix***suffix"],
  ];
  test("every form of a registered secret is masked, and nothing else", () => {
    registerHeaders([
      ["Authorization", "Bearer kq-Aa1+/="],
      ["X-Api-Key", 'qu"ote\\d-value'],
      ["Cookie", "session=c00kie-value; theme=dark"],
      ["authorization", `Basic ${Buffer.from("ada:pa55word-7").toString("base64")}`],
      ["X-Token", "shrt"],
      ["X-Secret", "1234"],
      ["X-Secret-2", "true"],
      ["X-Team", "latest"],
    ]);
    registerUrl("http://ada:l0gin-pass@host:8000");
    registerUrl("host:8000/?api_key=qu3ry-key&n=1");
    for (const [what, text, masked] of texts) assert.equal(maskSecrets(text), masked, what);
  });

  test("secrets of words on a command line are found, whatever is wrong with them", () => {
    registerArguments([
      "-H",
      "Authorization Bearer arg-key-1",
      "--header=X-API-Key:arg-key-2",
      "-HCookie: a=arg-key-3",
      "-u",
      "ada:arg-key-4@host:1",
      "--url=https://arg-key-5@host",
      "--endpoint",
      "v1/chat?access_token=arg-key-6",
      "--tokenizer=not-secret-1",
      "--goodput",
      "output_token_throughput:not-secret-2",
      "someone@not-secret-3",
    ]);
    for (let i = 1; i <= 6; i++) assert.equal(maskSecrets(`<arg-key-${i}>`), "<***>", String(i));
    for (let i = 1; i <= 3; i++) assert.equal(maskSecrets(`<not-secret-${i}>`), `<not-secret-${i}>`);
  });

  test("a terminal shows no login and no key of any address", () => {
    assert.equal(
      maskText("redirected to https://who:ever@elsewhere/x?max_tokens=5&X-Amz-Signature=abcdef0123&q=1"),
      "redirected to https://***@elsewhere/x?max_tokens=5&X-Amz-Signature=***&q=1",
    );
    // The example of help is no login.
    assert.equal(maskText("Give nats://USER:PASSWORD@HOST:4222"), "Give nats://USER:PASSWORD@HOST:4222");
  });

  test("a plan is shown without the values of secret headers, however short", () => {
    const plan = makePlan({});
    const headers = [
      ["Authorization", "x"],
      ["X-Team", "red"],
    ] as const;
    const shown = withoutSecrets({ ...plan, target: { ...plan.target, headers } as typeof plan.target });
    assert.deepEqual((shown.target as { headers: unknown }).headers, [
      ["Authorization", "<hidden>"],
      ["X-Team", "red"],
    ]);
  });

  test("a key of the environment loses its line break, and with one inside it is refused without being shown", () => {
    assert.deepEqual(readApiKey("K", { K: "env-key-1\r\n" }), { key: "env-key-1" });
    for (const value of ["env-key-2\r\nX-Evil: env-key-3", "env-key-2\u0000", "env-key-2é", "\n", undefined]) {
      const read = readApiKey("K", { K: value });
      assert.ok("problem" in read, JSON.stringify(value));
      assert.doesNotMatch(read.problem, /env-key/);
    }
    assert.equal(maskSecrets("env-key-1, then X-Evil: env-key-3"), "***, then ***");
  });
});

test("a server's words are masked before they are cut to length", () => {
  const key = "sk-0123456789abcdef";
  registerHeaders([["Authorization", `Bearer ${key}`]]);
  const failure = { kind: "http", status: 401, message: "HTTP status 401" } as const;
  const codecs = {
    openai: createPayloadCodec("v1/chat/completions", true),
    triton: createHttpCodec({ name: "m", version: "", inputs: [], outputs: [] } as never, {
      inputFormat: "binary",
      outputFormat: "binary",
    }),
  };
  for (const [name, codec] of Object.entries(codecs))
    for (let before = 270; before < 305; before++) {
      const { message } = codec.explain(failure, bytes(`${"x".repeat(before)}${key}`));
      assert.doesNotMatch(message, /sk-0/, `${name}, ${before} characters before`);
    }
});
