import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** PEM files of an authority, what it signed, and an authority that signed nothing of it. */
export interface Certificates {
  readonly caFile: string;
  /** For `localhost` and 127.0.0.1. */
  readonly certFile: string;
  readonly keyFile: string;
  /** The same for a host called `elsewhere`. */
  readonly elsewhereCertFile: string;
  readonly elsewhereKeyFile: string;
  readonly clientCertFile: string;
  readonly clientKeyFile: string;
  /** The client's in DER; the key as PKCS #8 and as SEC 1. */
  readonly clientCertDerFile: string;
  readonly clientKeyDerFile: string;
  readonly clientKeySec1File: string;
  /** An authority of the same kind that has nothing to do with the others. */
  readonly otherCaFile: string;
  /** A client certificate of that other authority. */
  readonly otherClientCertFile: string;
  readonly otherClientKeyFile: string;
  remove(): Promise<void>;
}

const SERVER_EXTENSIONS = "basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n";
const CLIENT_EXTENSIONS = "basicConstraints=CA:FALSE\nextendedKeyUsage=clientAuth\n";

/** Makes everything anew in a temporary folder, with the `openssl` command. */
export async function makeCertificates(): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), "rampart-tls-"));
  const file = (name: string): string => join(folder, name);
  await Promise.all([makeAuthority(folder, "ca"), makeAuthority(folder, "other-ca")]);
  await Promise.all([
    makeSigned(folder, "ca", "server", "localhost", SERVER_EXTENSIONS),
    makeSigned(folder, "ca", "elsewhere", "elsewhere", "basicConstraints=CA:FALSE\nsubjectAltName=DNS:elsewhere\n"),
    makeSigned(folder, "ca", "client", "rampart-client", CLIENT_EXTENSIONS),
    makeSigned(folder, "other-ca", "other-client", "stranger", CLIENT_EXTENSIONS),
  ]);
  await Promise.all([
    openssl(folder, "x509", "-in", "client.pem", "-outform", "DER", "-out", "client.der"),
    openssl(folder, "pkcs8", "-topk8", "-nocrypt", "-in", "client.key", "-outform", "DER", "-out", "client.pkcs8"),
    openssl(folder, "ec", "-in", "client.key", "-outform", "DER", "-out", "client.sec1"),
  ]);
  return {
    caFile: file("ca.pem"),
    certFile: file("server.pem"),
    keyFile: file("server.key"),
    elsewhereCertFile: file("elsewhere.pem"),
    elsewhereKeyFile: file("elsewhere.key"),
    clientCertDerFile: file("client.der"),
    clientKeyDerFile: file("client.pkcs8"),
    clientKeySec1File: file("client.sec1"),
    clientCertFile: file("client.pem"),
    clientKeyFile: file("client.key"),
    otherCaFile: file("other-ca.pem"),
    otherClientCertFile: file("other-client.pem"),
    otherClientKeyFile: file("other-client.key"),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function openssl(folder: string, ...args: string[]): Promise<void> {
  await promisify(execFile)("openssl", args, { cwd: folder, timeout: 120_000 });
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

async function makeAuthority(folder: string, name: string): Promise<void> {
  await openssl(
    folder,
    ...["req", "-x509", ...newKey, "-keyout", `${name}.key`, "-out", `${name}.pem`],
    ...["-days", "2", "-subj", `/CN=Rampart test ${name}`],
  );
}

async function makeSigned(
  folder: string,
  authority: string,
  name: string,
  commonName: string,
  extensions: string,
): Promise<void> {
  await writeFile(join(folder, `${name}.ext`), extensions);
  await openssl(
    folder,
    ...["req", ...newKey, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${commonName}`],
  );
  await openssl(
    folder,
    ...["x509", "-req", "-in", `${name}.csr`, "-CA", `${authority}.pem`, "-CAkey", `${authority}.key`],
    ...["-set_serial", `0x1${Buffer.from(name).toString("hex")}`, "-days", "2"],
    ...["-extfile", `${name}.ext`, "-out", `${name}.pem`],
  );
}
