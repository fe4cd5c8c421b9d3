// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { UserError } from "../../../src/plan/problem.ts";
import { DEFAULT_TLS } from "../../../src/plan/tls.ts";
import { readTls } from "../../../src/run/open/tls-files.ts";
import { runCommand } from "../../cli/perf-analyzer/run-command.ts";
import { createFolder, runRampart } from "../../cli/rampart-process.ts";
import { scenarioText } from "../../cli/scenario-files.ts";
import { writeIn } from "../../make-folder.ts";
import { makeCertificates } from "../../servers/tls.ts";
import { LIMIT } from "../../time-limit.ts";

const certificates = await makeCertificates();
after(() => certificates.remove());
const { caFile, clientCertFile, clientKeyFile, clientCertDerFile, clientKeyDerFile, clientKeySec1File, keyFile } =
  certificates;
const folder = dirname(caFile);

function write(name: string, text: string | Buffer): string {
  return writeIn(folder, name, text);
}

const textFile = write("text.pem", "this is no certificate\n");
const emptyFile = write("empty.pem", "");
const brokenCert = write(
  "broken-cert.pem",
  readFileSync(clientCertFile, "utf8").replace(/\n.{20}/, "\nAAAAAAAAAAAAAAAAAAAA"),
);
const brokenKey = write(
  "broken-key.pem",
  readFileSync(clientKeyFile, "utf8").replace(/\n.{20}/, "\nAAAAAAAAAAAAAAAAAAAA"),
);
const brokenBundle = write("bundle.pem", readFileSync(caFile, "utf8") + readFileSync(brokenCert, "utf8"));
const goodBundle = write(
  "good-bundle.pem",
  `# two\n${readFileSync(caFile, "utf8")}${readFileSync(clientCertFile, "utf8")}`,
);
const bothFile = write("both.pem", readFileSync(clientCertFile, "utf8") + readFileSync(clientKeyFile, "utf8"));
const encryptedKey = join(folder, "encrypted.key");
execFileSync("openssl", ["pkcs8", "-topk8", "-in", clientKeyFile, "-passout", "pass:x", "-out", encryptedKey]);

const DER = { certType: "DER", keyType: "DER" } as const;

describe("files of TLS", () => {
  const GOOD: readonly (readonly [what: string, tls: Partial<typeof DEFAULT_TLS>])[] = [
    ["nothing", {}],
    ["PEM", { caFile, certFile: clientCertFile, keyFile: clientKeyFile }],
    ["several authorities", { caFile: goodBundle }],
    ["DER", { ...DER, certFile: clientCertDerFile, keyFile: clientKeyDerFile }],
    ["a certificate and its key in one file", { certFile: bothFile }],
    ["SEC 1", { ...DER, certFile: clientCertDerFile, keyFile: clientKeySec1File }],
  ];
  for (const [what, tls] of GOOD)
    test(`that are valid are read: ${what}`, () => void readTls({ ...DEFAULT_TLS, ...tls }, []));

  const WRONG: readonly (readonly [what: string, tls: Partial<typeof DEFAULT_TLS>, problem: RegExp])[] = [
    [
      "an authority that is text",
      { caFile: textFile },
      /text\.pem: is not a PEM file of certificates: it has no BEGIN CERTIFICATE/,
    ],
    ["an empty authority", { caFile: emptyFile }, /empty\.pem: is not a PEM file of certificates/],
    ["an authority of which one is broken", { caFile: brokenBundle }, /bundle\.pem: is not a PEM file of certificates/],
    ["an authority in DER", { caFile: clientCertDerFile }, /client\.der: is not a PEM file of certificates: it is DER/],
    ["a broken certificate", { certFile: brokenCert }, /broken-cert\.pem: is not a PEM certificate: /],
    ["a key as certificate", { certFile: clientKeyFile }, /client\.key: is not a PEM certificate: /],
    ["a certificate in DER", { certFile: clientCertDerFile }, /client\.der: is not a PEM certificate: it is DER/],
    ["a certificate in PEM", { ...DER, certFile: clientCertFile }, /client\.pem: is not a DER certificate: it is PEM/],
    ["text in DER", { ...DER, certFile: textFile }, /text\.pem: is not a DER certificate: /],
    ["a broken key", { keyFile: brokenKey }, /broken-key\.pem: is not a PEM private key: /],
    [
      "a certificate as key",
      { keyFile: clientCertFile },
      /client\.pem: is not a PEM private key: it has no BEGIN PRIVATE KEY/,
    ],
    ["a key in DER", { keyFile: clientKeyDerFile }, /client\.pkcs8: is not a PEM private key: it is DER/],
    ["a key in PEM", { ...DER, keyFile: clientKeyFile }, /client\.key: is not a DER private key: it is PEM/],
    ["an encrypted key", { keyFile: encryptedKey }, /encrypted\.key: is not a PEM private key: it is encrypted/],
    ["no file", { keyFile: join(folder, "none") }, /none: cannot be read: /],
    ["a certificate alone", { certFile: clientCertFile }, /client\.pem: is a certificate without its private key/],
    ["a key alone", { keyFile: clientKeyFile }, /client\.key: is a private key without its certificate/],
    [
      "the key of another certificate",
      { certFile: clientCertFile, keyFile },
      /server\.key: is not the key of .*client\.pem/,
    ],
  ];
  for (const [what, tls, problem] of WRONG)
    test(`that are invalid are named: ${what}`, () => {
      assert.throws(
        () => readTls({ ...DEFAULT_TLS, ...tls }, []),
        (error) => {
          assert.ok(error instanceof UserError);
          assert.match(error.message, problem);
          return true;
        },
      );
    });

  test("are named in every mode, all of them", LIMIT, async () => {
    const named = /text\.pem: is not a PEM file of certificates: [\s\S]*broken-key\.pem: is not a PEM private key: /;
    const https = `--ssl-https-ca-certificates-file ${textFile} --ssl-https-client-certificate-file ${clientCertFile} --ssl-https-private-key-file ${brokenKey}`;
    const http = await runCommand(`-m m -u https://127.0.0.1:1 ${https}`.split(" "));
    assert.equal(http.code, 99);
    assert.match(http.err, named);
    const grpc = `--ssl-grpc-use-ssl --ssl-grpc-root-certifications-file ${textFile} --ssl-grpc-private-key-file ${brokenKey}`;
    const overGrpc = await runCommand(`-m m -i grpc -u 127.0.0.1:1 ${grpc}`.split(" "));
    assert.equal(overGrpc.code, 99);
    assert.match(overGrpc.err, named);
    const tls = JSON.stringify({ ca: textFile, key: brokenKey });
    const target = `triton("https://127.0.0.1:1", { model: "m", tls: ${tls} })`;
    using folder = createFolder({ "x.ts": scenarioText({ target }) });
    const { code, err } = await runRampart(["run", "x.ts"], { cwd: folder.path });
    assert.equal(code, 64, err);
    assert.match(err, named);
    const profile = "genai-perf profile -m m --endpoint-type chat --tokenizer none -u https://127.0.0.1:1 --input-file";
    writeFileSync(join(folder.path, "in.jsonl"), '{"text":"hello"}\n');
    const asked = await runRampart([...profile.split(" "), "in.jsonl", "--", ...https.split(" ")], {
      cwd: folder.path,
    });
    assert.equal(asked.code, 1, asked.err);
    assert.match(asked.err, named);
  });
});
