import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer as createHttp2Server } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { refuseCall, STATUS } from "../../src/mock/grpc-frames.ts";
import { serveMethod } from "../../src/mock/grpc-server.ts";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";
import { checkAddress } from "../../src/wizard/address.ts";
import type { Answers } from "../../src/wizard/answers.ts";
import { describeRefusal, detectServer } from "../../src/wizard/detect.ts";
import { findDeadPort } from "../golden/dead-port.ts";
import { startAnsweringServer } from "../servers/answering-server.ts";
import { makeCertificates } from "../servers/tls.ts";
import { LIMIT } from "../time-limit.ts";

/** What `rampart init` says of an address, and the answers that follow from it. */

const LIST = '{"object":"list","data":[{"id":"m","owned_by":"vllm"}]}';

const mock = await startMock(DEFAULT_MOCK, LOOPBACK);
const openai = await startAnsweringServer((response, index) => {
  const isList = openai.received[index]?.path === "/v1/models";
  response.writeHead(isList ? 200 : 404).end(isList ? LIST : "no");
});
const other = await startAnsweringServer((response) => response.writeHead(404).end("no"));
const certificates = await makeCertificates();
const [key, cert] = [readFileSync(certificates.keyFile), readFileSync(certificates.certFile)];
const secure = createServer({ key, cert }, (_request, response) => response.end(LIST));
await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
const securePort = (secure.address() as AddressInfo).port;
after(async () => {
  secure.closeAllConnections();
  for (const server of [secure, openai, other]) server.close();
  await mock.stop();
  await certificates.remove();
});
const deadPort = await findDeadPort();

/** Has reflection, and none of the known APIs. */
const reflecting = createHttp2Server();
reflecting.on("stream", (stream, headers) => {
  const isReflection = headers[":path"] === "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  if (!isReflection) return refuseCall(stream, STATUS.unimplemented, "no such method");
  void serveMethod(stream, echoMessages, "identity");
});
await new Promise<void>((resolve) => reflecting.listen(0, "127.0.0.1", resolve));
after(() => reflecting.close());

async function* echoMessages(messages: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const message of messages) yield message;
}

const at = (port: number): string => `127.0.0.1:${port}`;
const openaiAt = new URL(openai.url).host;
const otherAt = new URL(other.url).host;
const vllm = "an OpenAI-compatible server (models owned by vllm) over HTTP";

for (const [name, url, text, target, protocol, seenUrl] of [
  [
    "KServe over HTTP",
    at(mock.httpPort),
    / is \S+ \S+ \(KServe v2\) over HTTP, and an OpenAI.* over HTTP\.$/,
    "triton",
    "http",
  ],
  ["KServe over gRPC", at(mock.grpcPort), / is \S+ \S+ \(KServe v2\) over gRPC\.$/, "triton", "grpc"],
  ["OpenAI's API", openaiAt, `${openaiAt} is ${vllm}.`, "openai", "http"],
  [
    "OpenAI's API at its base path, beside another API",
    `http://${at(mock.httpPort)}/v1/`,
    / \(KServe v2\) over HTTP, and an OpenAI/,
    "openai",
    "http",
    `http://${at(mock.httpPort)}`,
  ],
  [
    "a path below an API's base path",
    `${at(mock.httpPort)}/v1/completions`,
    / \(KServe v2\) over HTTP, and an OpenAI/,
    "triton",
    "http",
  ],
  ["OpenAI's API at a URL", openai.url, `${openaiAt} is ${vllm}.`, "openai", "http"],
  ["TLS", at(securePort), `${at(securePort)} is ${vllm} with TLS.`, "openai", "http", `https://${at(securePort)}`],
  ["nothing", at(deadPort), `Nothing answers at ${at(deadPort)}.`, undefined, undefined],
] as const)
  test(`an address with ${name} is described`, LIMIT, async () => {
    const found = await detectServer(url);
    assert.deepEqual([found?.detected?.target, found?.detected?.protocol], [target, protocol]);
    assert.equal(found?.url, seenUrl ?? url);
    if (typeof text === "string") assert.equal(found?.text, text);
    else assert.match(found?.text ?? "", text);
  });

test("a target that is looked for comes before others that the server has too", LIMIT, async () => {
  const both = at(mock.httpPort);
  assert.equal((await detectServer(both, { wanted: "openai" }))?.detected?.target, "openai");
  assert.equal((await detectServer(both, { wanted: "triton" }))?.detected?.target, "triton");
  assert.equal((await detectServer(openaiAt, { wanted: "triton" }))?.detected?.target, "openai");
});

test("a gRPC server without a known API is described by its reflection", LIMIT, async () => {
  const address = at((reflecting.address() as AddressInfo).port);
  const found = await detectServer(address);
  assert.equal(found?.text, `${address} is a server that describes its services by reflection over gRPC.`);
  assert.deepEqual(found?.detected, { target: "grpc", protocol: "grpc", found: [] });
});

test("an unknown server is described by its protocol", LIMIT, async () => {
  const found = await detectServer(otherAt);
  assert.equal(found?.text, `${otherAt} speaks HTTP, but answers to none of the APIs that Rampart recognizes.`);
});

test("a path that answers with an error is described, and no other one", LIMIT, async () => {
  const url = at(mock.httpPort);
  const refused = `${url}/nothing answers HTTP 404: all requests of the scenario would fail. Is the path right?`;
  const http: Answers = { target: "http", url };
  assert.equal(await describeRefusal({ ...http, url: `${url}/nothing` }), refused);
  assert.equal(await describeRefusal({ ...http, path: "/nothing" }), refused);
  assert.equal(await describeRefusal({ ...http, path: "/nothing", recording: "requests" }), undefined);
  assert.equal(await describeRefusal({ ...http, path: "/v2/health/ready" }), undefined);
  assert.equal(await describeRefusal({ ...http, url: at(deadPort) }), undefined);
  assert.equal(await describeRefusal({ target: "triton", url }), undefined);
});

test("a text that is not an address is not queried", async () => {
  assert.equal(await detectServer("http://a b"), undefined);
});

const ADDRESSES: readonly (readonly [text: string, isAddress: boolean])[] = [
  ["localhost", true],
  [" localhost:8000 ", true],
  ["[::1]:8000", true],
  ["https://host/v1", true],
  ["host/path?query=a b", true],
  ["", false],
  ["two words", false],
  ["host:80000", false],
  ["host:9nonsense", false],
];

for (const [text, isAddress] of ADDRESSES)
  test(`'${text}' is ${isAddress ? "an" : "no"} address`, () => {
    if (isAddress) assert.equal(checkAddress(text), undefined);
    else assert.match(checkAddress(text) ?? "", /^must be host:port, http:\/\/host:port or https:\/\/host:port$/);
  });
