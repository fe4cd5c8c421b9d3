import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/plan/problem.ts";
import { DEFAULT_TLS } from "../../../src/plan/tls.ts";
import { describeImpliedPort, parseUrl, resolveEndpoint } from "../../../src/run/open/endpoint.ts";

const urls: readonly (readonly [
  text: string,
  host: string,
  port: number,
  authority: string,
  prefix?: string,
  isSecure?: boolean,
])[] = [
  ["localhost", "localhost", 8000, "localhost:8000"],
  ["localhost:9", "localhost", 9, "localhost:9"],
  [" gpu-host:8000 ", "gpu-host", 8000, "gpu-host:8000"],
  ["=localhost:8000", "localhost", 8000, "localhost:8000"],
  ["http://localhost", "localhost", 80, "localhost"],
  ["http://localhost:8000/", "localhost", 8000, "localhost:8000"],
  ["http://localhost:8000/a/b/", "localhost", 8000, "localhost:8000", "/a/b"],
  ["https://host", "host", 443, "host", "", true],
  ["https://host:8443/x", "host", 8443, "host:8443", "/x", true],
  ["[::1]:8001", "::1", 8001, "[::1]:8001"],
  ["[::1]", "::1", 8000, "[::1]:8000"],
  ["http://[fe80::1]:9/x", "fe80::1", 9, "[fe80::1]:9", "/x"],
  ["10.0.0.1:65535", "10.0.0.1", 65_535, "10.0.0.1:65535"],
];

for (const [text, host, port, authority, pathPrefix = "", isSecure = false] of urls) {
  test(`the address '${text}'`, () => {
    const hasPort = /[^:]:\d+(?:\/|$)/.test(text.trim());
    assert.deepEqual(parseUrl(text, 8000), { host, port, authority, pathPrefix, isSecure, hasPort });
    assert.equal(
      describeImpliedPort({ url: text, defaultPort: 8000 }),
      hasPort ? "" : `no port is given, so port ${port} is used`,
    );
  });
}

for (const text of [
  "",
  ":8000",
  "http://",
  "http//host:1",
  "host:",
  "host:0",
  "host:65536",
  "host:http",
  "host:80:81",
  "a b",
  "host/x?y",
  "host:1/x\r\nX-Evil:1",
  "host\n:1",
  "host#x",
  "[::1",
  "host:-1",
]) {
  test(`refused as an address: '${text}'`, () => {
    assert.throws(
      () => parseUrl(text, 8000),
      (error: unknown) => error instanceof UserError && error.problems[0]?.value === text,
    );
  });
}

for (const text of ["::1", "::1:8000", "http://::1:8000/x", "fe80::1:2:8000", "2001:db8:1:2:3:4:5:6:8000"])
  test(`an IPv6 address needs brackets: '${text}'`, () => {
    assert.throws(
      () => parseUrl(text, 8000),
      (error: unknown) => error instanceof UserError && /IPv6 .*brackets/.test(String(error.problems[0]?.message)),
    );
  });

test("TLS files that can not be read are all named", () => {
  const tls = { ...DEFAULT_TLS, isEnabled: true, caFile: "/nonexistent/ca", certFile: "/nonexistent/cert" };
  assert.throws(
    () => resolveEndpoint({ url: "host:1", wire: "grpc", defaultPort: 8001, headers: [] }, tls),
    (error: unknown) => {
      assert.ok(error instanceof UserError);
      assert.deepEqual(
        error.problems.map(({ path }) => path),
        ["/nonexistent/ca", "/nonexistent/cert"],
      );
      return true;
    },
  );
});

test("https and gRPC's switch turn TLS on, with the protocol's own name", () => {
  const tls = { ...DEFAULT_TLS, verifyPeer: false };
  const address = { url: "https://host", wire: "http" as const, defaultPort: 8000, headers: [] };
  const endpoint = resolveEndpoint(address, tls);
  assert.deepEqual([endpoint.tls?.alpn, endpoint.tls?.verifyPeer], [["http/1.1"], false]);
  assert.equal(resolveEndpoint({ ...address, url: "host" }, tls).tls, undefined);
  const grpc = resolveEndpoint({ ...address, url: "host", wire: "grpc" }, { ...tls, isEnabled: true });
  assert.deepEqual(grpc.tls?.alpn, ["h2"]);
});
