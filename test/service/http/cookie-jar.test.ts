import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CookieJar, cookieServerOf } from "../../../src/service/http/cookie-jar.ts";
import type { Header } from "../../../src/transport/request.ts";

/** Which cookies of a server are sent back to it, by RFC 6265. */

const SERVER = { host: "a.example.com", isSecure: false } as const;
const DATE: Header = ["Date", "Sat, 28 Nov 2026 20:00:00 GMT"];

/** Returns what a request gets after a response that sets these cookies. */
function sentAfter(cookies: readonly string[], path = "/", from = "/login", server = SERVER): string | undefined {
  const jar = new CookieJar(server);
  jar.take([DATE, ...cookies.map((cookie): Header => ["Set-Cookie", cookie])], from);
  return jar.headerFor(path);
}

describe("a cookie", () => {
  const cases: readonly (readonly [
    name: string,
    cookies: readonly string[],
    sent: string | undefined,
    string?,
    string?,
  ])[] = [
    ["is sent back", ["sid=a=b"], "sid=a=b"],
    ["replaces that of the same name and path", ["a=1", "b=2", "a=3"], "a=3; b=2"],
    ["is sent to its path and below", ["a=1; Path=/x"], "a=1", "/x/y?z"],
    ["is sent to exactly its path", ["a=1; Path=/x"], "a=1", "/x?z"],
    ["is not sent beside its path", ["a=1; Path=/x"], undefined, "/xy"],
    ["without a path is sent to the folder of its request", ["a=1"], "a=1", "/api/v1/me", "/api/v1/login?next=/"],
    ["without a path is not sent above the folder of its request", ["a=1"], undefined, "/api", "/api/v1/login"],
    ["with a longer path comes first", ["a=1; Path=/", "b=2; path=/x"], "b=2; a=1", "/x"],
    ["of the host's domain is sent", ["a=1; Domain=.Example.com"], "a=1"],
    ["of another domain is refused", ["a=1; Domain=ample.com", "b=1; Domain=b.example.com"], undefined],
    ["that is only for TLS is refused without it", ["a=1; Secure"], undefined],
    ["that has expired is removed", ["a=1", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], undefined],
    ["without a time left is removed", ["a=1", "a=1; Max-Age=0"], undefined],
    ["has Max-Age before Expires", ["a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], "a=1"],
    ["without a name is left out", ["=1", "abc", "b=2"], "b=2"],
    ["that no header can have is left out", ["a=1\u0001", `b=${"x".repeat(5000)}`], undefined],
  ];
  for (const [name, cookies, sent, path, from] of cases)
    test(name, () => assert.equal(sentAfter(cookies, path, from), sent));

  test("that is only for TLS is sent over TLS", () => {
    assert.equal(sentAfter(["a=1; Secure"], "/", "/", { ...SERVER, isSecure: true } as never), "a=1");
  });

  test("of an IP address has no domain above it", () => {
    assert.equal(
      sentAfter(["a=1; Domain=0.0.1"], "/", "/", { host: "127.0.0.1", isSecure: false } as never),
      undefined,
    );
  });

  test("expires by the server's clock", () => {
    const jar = new CookieJar(SERVER);
    jar.take([DATE, ["set-cookie", "a=1; Max-Age=60"]], "/");
    jar.take([["date", "Sat, 28 Nov 2026 20:00:59 GMT"]], "/");
    assert.equal(jar.headerFor("/"), "a=1");
    jar.take([["date", "Sat, 28 Nov 2026 20:01:00 GMT"]], "/");
    assert.equal(jar.headerFor("/"), undefined);
  });
});

test("a jar keeps the last 50 cookies", () => {
  const sent = sentAfter(Array.from({ length: 60 }, (_, index) => `c${index}=1`)) ?? "";
  assert.deepEqual([sent.split("; ").length, sent.startsWith("c10=1;")], [50, true]);
});

test("the server of an address is its host, and whether it speaks TLS", () => {
  assert.deepEqual(cookieServerOf("Host:8000"), { host: "host", isSecure: false });
  assert.deepEqual(cookieServerOf("https://a.b:1"), { host: "a.b", isSecure: true });
});
