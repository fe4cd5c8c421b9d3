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
  readonly clientCertFile: string;
  readonly clientKeyFile: string;
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
    makeSigned(folder, "ca", "client", "rampart-client", CLIENT_EXTENSIONS),
    makeSigned(folder, "other-ca", "other-client", "stranger", CLIENT_EXTENSIONS),
  ]);
  return {
    caFile: file("ca.pem"),
    certFile: file("server.pem"),
    keyFile: file("server.key"),
    clientCertFile: file("client.pem"),
    clientKeyFile: file("client.key"),
    otherCaFile: file("other-ca.pem"),
    otherClientCertFile: file("other-client.pem"),
    otherClientKeyFile: file("other-client.key"),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function openssl(folder: string, ...args: string[]): Promise<void> {
  await promisify(execFile)("openssl", args, { cwd: folder, timeout: 20_000 });
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
    ...["-set_serial", `0x${"1".padStart(16, name === "server" ? "2" : "3")}`, "-days", "2"],
    ...["-extfile", `${name}.ext`, "-out", `${name}.pem`],
  );
}
