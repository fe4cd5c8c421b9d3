import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../../src/runtime/runtime.ts";
import { connectFailure } from "../../src/transport/connect-failure.ts";

/** Why no connection could be made, in words that are the same whatever the runtime calls it. */

const ALTNAMES = "Hostname/IP does not match certificate's altnames: ";
const error = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });
const FILES =
  /^this host, not the server, ran out of file descriptors.*Raise the limit \(ulimit -n\), or lower the load$/;

const CASES: readonly (readonly [name: string, error: Error | undefined, kind: string, message: string | RegExp])[] = [
  ["nothing is known", undefined, "connect", "Connection closed before it was established"],
  ["nobody listens", error("Failed to connect", "ECONNREFUSED"), "connect", "Connection refused"],
  ["a name that nobody has", error("getaddrinfo ENOTFOUND nowhere", "ENOTFOUND"), "connect", "Unknown host"],
  [
    "a certificate for other names",
    error(
      `${ALTNAMES}Host: localhost. is not in the cert's altnames: DNS:a.example, DNS:*.b.example, IP Address:10.1.1.1`,
      "ERR_TLS_CERT_ALTNAME_INVALID",
    ),
    "tls",
    "the server's certificate is for a.example, *.b.example, 10.1.1.1, not for localhost",
  ],
  [
    "a certificate with a common name only",
    error(`${ALTNAMES}Host: localhost. is not cert's CN: only.cn`, "ERR_TLS_CERT_ALTNAME_INVALID"),
    "tls",
    "the server's certificate is for only.cn, not for localhost",
  ],
  [
    "a certificate without the address",
    error(`${ALTNAMES}IP: 127.0.0.1 is not in the cert's list: `, "ERR_TLS_CERT_ALTNAME_INVALID"),
    "tls",
    "the server's certificate names no such address, not for 127.0.0.1",
  ],
  [
    "a certificate for another name, as grpc-js reports it",
    error(
      `No connection established. Last error: Error: ${ALTNAMES}Host: localhost. is not in the cert's altnames: DNS:a.example. Resolution note: `,
    ),
    "tls",
    /^the server's certificate is for a\.example/,
  ],
  [
    "a server of another protocol, as grpc-js reports it",
    error("No connection established. Last error: Protocol error (2026-11-23T13:35:54.206Z). Resolution note: "),
    "connect",
    "Protocol error",
  ],
  ["no file descriptor left, on Node and Deno", error("connect EMFILE 127.0.0.1:80", "EMFILE"), "limit", FILES],
  ["no file descriptor left on the whole host", error("Too many open files in system", "ENFILE"), "limit", FILES],
];

describe("why no connection could be made", () => {
  for (const [name, given, kind, message] of CASES) {
    test(name, () => {
      const failure = connectFailure(given);
      assert.equal(failure.kind, kind);
      if (typeof message === "string") assert.equal(failure.message, message);
      else assert.match(failure.message, message);
    });
  }

  test("no file descriptor left, whatever the runtime makes of it", () => {
    const script = fileURLToPath(new URL("without-files.ts", import.meta.url));
    const args = { bun: [script], deno: ["run", "-A", "--no-check", script], node: [script] }[runtimeName];
    const command = `ulimit -n 100; exec '${process.execPath}' ${args.map((arg) => `'${arg}'`).join(" ")}`;
    // Deno reads these certificates when it connects, and ends itself if it cannot.
    const { NODE_EXTRA_CA_CERTS: _, DENO_CERT: __, ...env } = process.env;
    const { stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8", timeout: 120_000, env });
    const outcomes = stdout.trim().split("\n");
    assert.equal(outcomes.length, 2, `${stdout}${stderr}`);
    for (const outcome of outcomes) {
      const { kind, message } = JSON.parse(outcome) as { kind: string; message: string };
      assert.equal(kind, "limit");
      assert.match(message, FILES);
    }
  });
});
