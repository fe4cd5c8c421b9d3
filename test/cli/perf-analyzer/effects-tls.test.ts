import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Stub, startStub } from "../../servers/stub.ts";
import { makeCertificates } from "../../servers/tls.ts";
import { LIMIT } from "../../time-limit.ts";
import { runCommand } from "./run-command.ts";

/** What the flags of TLS do, against Go's TLS. Their names say which flags. */

const certificates = await makeCertificates();
const { caFile, certFile, keyFile, clientCertFile, clientKeyFile, elsewhereCertFile, elsewhereKeyFile } = certificates;
const [open, strict, elsewhere] = await Promise.all([
  startStub({ tls: { certFile, keyFile } }),
  startStub({ tls: { certFile, keyFile, clientCaFile: caFile } }),
  startStub({ tls: { certFile: elsewhereCertFile, keyFile: elsewhereKeyFile } }),
]);
after(async () => {
  await Promise.all([open.stop(), strict.stop(), elsewhere.stop(), certificates.remove()]);
});

/** Whether a run with these flags got through; otherwise it must have ended with an error that speaks of the connection. */
async function reaches(args: readonly string[]): Promise<boolean> {
  const { code, err } = await runCommand(["-m", "simple", "--request-count", "2", "--stall-timeout", "5s", ...args]);
  if (code === 0) return true;
  assert.equal(code, 99);
  assert.match(err, /^error: failed to get model metadata: .+\n {2}.+/m);
  return false;
}

const overGrpc = (stub: Stub, ...flags: string[]): Promise<boolean> =>
  reaches(["-i", "grpc", "-u", `localhost:${stub.grpcPort}`, ...flags]);
const overHttps = (stub: Stub, ...flags: string[]): Promise<boolean> =>
  reaches(["-u", `https://localhost:${stub.httpPort}`, ...flags]);

test("the --ssl-grpc-* flags: TLS, trusted authorities, and the client's certificate", LIMIT, async () => {
  const trust = ["--ssl-grpc-root-certifications-file", caFile];
  assert.equal(await overGrpc(open, "--ssl-grpc-use-ssl", ...trust), true);
  assert.equal(await overGrpc(open, "--ssl-grpc-use-ssl"), false, "an authority nobody named is not trusted");
  assert.equal(await overGrpc(open, ...trust), false, "without the switch there is no TLS");
  assert.equal(await overGrpc(elsewhere, "--ssl-grpc-use-ssl", ...trust), false, "the name is looked at");
  const identity = ["--ssl-grpc-certificate-chain-file", clientCertFile, "--ssl-grpc-private-key-file", clientKeyFile];
  assert.equal(await overGrpc(strict, "--ssl-grpc-use-ssl", ...trust), false);
  assert.equal(await overGrpc(strict, "--ssl-grpc-use-ssl", ...trust, ...identity), true);
});

test("an untrusted certificate, and one for another name, have hints of their own", LIMIT, async () => {
  const hintOf = async (...args: string[]): Promise<string> => {
    const { code, err } = await runCommand(["-m", "simple", "--request-count", "2", ...args]);
    assert.equal(code, 99);
    return err.split("\n")[1] ?? "";
  };
  const at = (port: number): string => `No trusted authority signed the certificate of localhost:${port}.`;
  assert.equal(
    await hintOf("-i", "grpc", "-u", `localhost:${open.grpcPort}`, "--ssl-grpc-use-ssl"),
    `  ${at(open.grpcPort)} Name its authority with --ssl-grpc-root-certifications-file FILE.`,
  );
  assert.equal(
    await hintOf("-u", `https://localhost:${open.httpPort}`),
    `  ${at(open.httpPort)} Name its authority with --ssl-https-ca-certificates-file FILE, or trust anybody with --ssl-https-verify-peer 0.`,
  );
  const trust = ["--ssl-https-ca-certificates-file", caFile];
  assert.equal(
    await hintOf("-u", `https://localhost:${elsewhere.httpPort}`, ...trust),
    "  Give a name of the certificate in -u.",
  );
});

test(
  "over https the authorities and the server's name are checked separately, like in curl: --ssl-https-verify-* and --ssl-https-ca-*",
  LIMIT,
  async () => {
    for (const client of ["own", "undici"]) {
      const https = (stub: Stub, ...flags: string[]): Promise<boolean> => overHttps(stub, "--client", client, ...flags);
      const trust = ["--ssl-https-ca-certificates-file", caFile];
      const anyPeer = ["--ssl-https-verify-peer", "0"];
      const anyName = ["--ssl-https-verify-host", "0"];
      assert.equal(await https(open), false);
      assert.equal(await https(open, ...trust), true);
      assert.equal(await https(open, ...trust, "--ssl-https-verify-peer", "1", "--ssl-https-verify-host", "2"), true);
      assert.equal(await https(open, ...anyPeer), true);
      assert.equal(await https(open, ...anyName), false, "only the name does not matter");
      assert.equal(await https(elsewhere, ...trust), false);
      assert.equal(await https(elsewhere, ...trust, ...anyName), true);
      assert.equal(await https(elsewhere, ...trust, "--ssl-https-verify-host", "1"), false);
      assert.equal(await https(elsewhere, ...anyPeer), false, "the name still matters");
      assert.equal(await https(elsewhere, ...anyPeer, ...anyName), true);
    }
  },
);

test(
  "the client shows its certificate over https, from PEM and from DER files: --ssl-https-client-* and --ssl-https-private-key-*",
  LIMIT,
  async () => {
    const trust = ["--ssl-https-ca-certificates-file", caFile];
    const identity = (cert: string, key: string): string[] => [
      ...["--ssl-https-client-certificate-file", cert],
      ...["--ssl-https-private-key-file", key],
    ];
    const { clientCertDerFile, clientKeyDerFile, clientKeySec1File } = certificates;
    const der = ["--ssl-https-client-certificate-type", "DER", "--ssl-https-private-key-type", "DER"];
    assert.equal(await overHttps(strict, ...trust), false);
    assert.equal(await overHttps(strict, ...trust, ...identity(clientCertFile, clientKeyFile)), true);
    assert.equal(await overHttps(strict, ...trust, ...identity(clientCertDerFile, clientKeyDerFile), ...der), true);
    assert.equal(await overHttps(strict, ...trust, ...identity(clientCertDerFile, clientKeySec1File), ...der), true);
    const mixed = ["--ssl-https-private-key-type", "DER"];
    assert.equal(await overHttps(strict, ...trust, ...identity(clientCertFile, clientKeyDerFile), ...mixed), true);
  },
);

test("a file that is not of its type is named before any server is asked", LIMIT, async () => {
  const args = ["-m", "simple", "-u", "https://localhost:1", "--ssl-https-private-key-file", clientKeyFile];
  const { code, err } = await runCommand([...args, "--ssl-https-private-key-type", "DER"]);
  assert.equal(code, 99);
  assert.ok(err.includes(`${clientKeyFile}: is not a DER private key: it is PEM`), err);
  assert.doesNotMatch(err, /connect/);
});
