import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, describe, test } from "node:test";
import { type MockServer, startMock } from "../../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../../src/plan/mock.ts";
import type { FailureFacts } from "../../../src/plan/problem.ts";
import { DEFAULT_TLS } from "../../../src/plan/tls.ts";
import { type Diagnosis, diagnose, diagnoseServer } from "../../../src/run/judge/diagnosis.ts";
import type { OpenAiTargetPlan } from "../../../src/service/openai/target.ts";
import { DEFAULT_TRITON_TARGET, type TritonTargetPlan } from "../../../src/service/triton/target.ts";
import { describeClose } from "../../../src/transport/connect-failure.ts";
import { makeOpenAiTarget } from "../../plan/make-plan.ts";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { makeCertificates } from "../../servers/tls.ts";

/** Which mistake a failure points to, with servers that really answer so. */

const NO_FAILURE = { kind: "http", status: 404, message: "HTTP status 404" } as const;

function openAi(url: string, more: Partial<OpenAiTargetPlan> = {}): OpenAiTargetPlan {
  return makeOpenAiTarget(url, { isStreaming: false, ...more });
}

function triton(url: string, protocol: "http" | "grpc", more: Partial<TritonTargetPlan> = {}): TritonTargetPlan {
  return { ...DEFAULT_TRITON_TARGET, url, protocol, model: "simple", ...more };
}

const closed: FailureFacts = { kind: "closed", message: "server closed the connection" };
const http = (status: number, message = `HTTP status ${status}`): FailureFacts => ({ kind: "http", status, message });

describe("a failure alone says that", () => {
  const key = { headers: [["authorization", "Bearer x"]] } as const;
  const prefixed = openAi("http://h:8000/v1");
  const cases: readonly (readonly [
    string,
    OpenAiTargetPlan | TritonTargetPlan,
    FailureFacts,
    Diagnosis | undefined,
  ])[] = [
    [
      "the path is doubled",
      prefixed,
      http(404),
      { code: "doubled-path", path: "/v1/v1/chat/completions", doubled: "v1" },
    ],
    [
      "all of the path is doubled",
      openAi("http://h/v1/chat/completions"),
      http(405),
      { code: "doubled-path", path: "/v1/chat/completions/v1/chat/completions", doubled: "v1/chat/completions" },
    ],
    [
      "a Triton's path is doubled",
      triton("http://h:8000/v2", "http"),
      http(404),
      { code: "doubled-path", path: "/v2/v2", doubled: "v2" },
    ],
    ["no key was sent", openAi("h:8000"), http(401), { code: "no-key", status: 401 }],
    ["the key was refused", openAi("h:8000", key), http(403), { code: "key-refused", status: 403 }],
    [
      "a Triton wants a key",
      triton("h:8001", "grpc"),
      { kind: "grpc", status: 16, message: "no" },
      { code: "no-key", status: 16 },
    ],
    [
      "the server redirects",
      openAi("h:8000"),
      http(301, "unexpected HTTP status 301, redirected to https://x/y"),
      { code: "redirected", location: "https://x/y" },
    ],
    ["the server redirects nowhere", openAi("h:8000"), http(302), { code: "redirected", location: "" }],
    ["a cached response is no redirect", openAi("h:8000"), http(304), undefined],
    ...[
      { kind: "closed", message: describeClose(undefined, "before any byte") },
      { kind: "tls", message: "error:10000410:SSL routines:OPENSSL_internal:SSLV3_ALERT_HANDSHAKE_FAILURE" },
      { kind: "tls", message: "ssl3_read_bytes:tlsv13 alert certificate required:SSL alert number 116" },
    ].map(
      (failure) => [failure.message, openAi("https://h:8000"), failure, { code: "no-client-certificate" }] as const,
    ),
    [
      "nobody answers a handshake",
      openAi("https://h:8000"),
      { kind: "tls", message: "TLS handshake: no response within 5 s" },
      { code: "no-tls", address: "h:8000" },
    ],
    ...(
      [
        ["self-signed certificate", "untrusted-certificate"],
        ["self signed certificate in certificate chain", "untrusted-certificate"],
        ["unable to verify the first certificate", "untrusted-certificate"],
        ["invalid peer certificate: UnknownIssuer", "untrusted-certificate"],
        ["the server's certificate is for a.b, not for h", "other-name"],
        ["the server's certificate names no such address, not for 127.0.0.1", "other-name"],
        ["certificate has expired", "outdated-certificate"],
      ] as const
    ).map(
      ([message, code]) =>
        [message, openAi("https://h:8000"), { kind: "tls", message }, { code, address: "h:8000" }] as const,
    ),
  ];
  for (const [name, target, failure, expected] of cases)
    test(name, async () => assert.deepEqual(await diagnose({ target }, failure), expected));
});

test("failures of other kinds, and of several servers, are left as they are", async () => {
  const refused = { kind: "connect", message: "Connection refused" };
  assert.equal(await diagnose({ target: openAi("127.0.0.1:1") }, refused), undefined);
  assert.equal(await diagnose({ target: openAi("127.0.0.1:1") }, http(500)), undefined);
  assert.equal(await diagnose({ target: openAi("127.0.0.1:1", { moreUrls: ["h:2"] }) }, http(401)), undefined);
});

const found = (kind: "triton" | "openai", api: string) =>
  ({ kind, api, protocol: "http", path: "/x", description: api }) as const;

test("a server with both APIs is not a mistake", () => {
  const asked = {
    wire: "http",
    api: "openai",
    isSecure: false,
    address: "h:1",
    path: "/x",
    hasKey: false,
    hasCertificate: false,
  } as const;
  assert.equal(
    diagnoseServer(asked, { speaks: "http", found: [found("triton", "kserve"), found("openai", "openai")] }),
    undefined,
  );
});

/** gRPC on the port after HTTP's, as servers have it. */
async function startNeighbours(): Promise<MockServer> {
  for (let attempt = 0; ; attempt++) {
    const httpPort = 20_000 + Math.floor(Math.random() * 10_000);
    try {
      return await startMock(DEFAULT_MOCK, { host: "127.0.0.1", httpPort, grpcPort: httpPort + 1 });
    } catch (error) {
      if (attempt === 20) throw error;
    }
  }
}

const mock = await startNeighbours();
const certificates = await makeCertificates();
const [key, cert] = [readFileSync(certificates.keyFile), readFileSync(certificates.certFile)];
const secure = createTlsServer({ key, cert }, (_, response) => response.end("{}"));
await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
const list = await startAnsweringServer((response) => response.end('{"object":"list","data":[]}'));
const kserve = await startAnsweringServer((response, index) =>
  kserve.received[index]?.path === "/v2"
    ? response.end('{"name":"x","extensions":[]}')
    : response.writeHead(404).end("no"),
);
const placeOf = (url: string): string => url.replace("http://", "");
after(async () => {
  secure.closeAllConnections();
  for (const server of [secure, list, kserve]) server.close();
  await mock.stop();
  await certificates.remove();
});

const grpcAt = `127.0.0.1:${mock.grpcPort}`;
const httpAt = `127.0.0.1:${mock.httpPort}`;
const tlsAt = `127.0.0.1:${portOf(secure)}`;
const tls = { ...DEFAULT_TLS, isEnabled: true };
const failed = { kind: "tls", message: "wrong version number" };
describe("the server that answers is", () => {
  const cases: readonly (readonly [
    string,
    OpenAiTargetPlan | TritonTargetPlan,
    FailureFacts,
    Diagnosis | undefined,
  ])[] = [
    [
      "one of OpenAI's API",
      triton(placeOf(list.url), "http"),
      NO_FAILURE,
      { code: "openai-server", address: placeOf(list.url), asked: "kserve" },
    ],
    [
      "one of OpenAI's API, asked by gRPC",
      triton(placeOf(list.url), "grpc"),
      closed,
      { code: "openai-server", address: placeOf(list.url), asked: "kserve" },
    ],
    [
      "a Triton",
      openAi(kserve.url),
      NO_FAILURE,
      { code: "kserve-server", address: placeOf(kserve.url), asked: "openai" },
    ],
    ["one of TLS", openAi(tlsAt), closed, { code: "tls-port", address: tlsAt }],
    ["one of TLS, asked by gRPC", triton(tlsAt, "grpc"), closed, { code: "tls-port", address: tlsAt }],
    ["one without TLS", openAi(`https://${httpAt}`), failed, { code: "plain-port", address: httpAt }],
    ["one of gRPC without TLS", triton(grpcAt, "grpc", { tls }), failed, { code: "plain-port", address: grpcAt }],
  ];
  for (const [name, target, failure, expected] of cases)
    test(name, async () => assert.deepEqual(await diagnose({ target }, failure), expected));

  test("one of gRPC, or of HTTP; the neighbouring port is named", async () => {
    const grpc = { code: "grpc-port", address: grpcAt, port: mock.httpPort };
    assert.deepEqual(await diagnose({ target: triton(grpcAt, "http") }, { kind: "protocol", message: "" }), grpc);
    const plain = { code: "http-port", address: httpAt, port: mock.grpcPort };
    assert.deepEqual(await diagnose({ target: triton(httpAt, "grpc") }, closed), plain);
  });
});
