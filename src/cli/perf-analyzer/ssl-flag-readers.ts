import { type FlagReader, isFile } from "./flag-values.ts";
import { flagName } from "./flags.ts";
import type { GivenFlag } from "./parse.ts";
import type { ValueReader } from "./values.ts";

/** What the flags of TLS do with their values: gRPC's and those of https. */
export const SSL_FLAG_READERS: Readonly<Record<string, FlagReader>> = {
  "--ssl-grpc-use-ssl": (settings) => {
    settings.sslGrpc.isEnabled = true;
  },
  "--ssl-grpc-root-certifications-file": (settings, reader, value, given) => {
    settings.sslGrpc.caFile = readFilePath(reader, value, given);
  },
  "--ssl-grpc-private-key-file": (settings, reader, value, given) => {
    settings.sslGrpc.keyFile = readFilePath(reader, value, given);
  },
  "--ssl-grpc-certificate-chain-file": (settings, reader, value, given) => {
    settings.sslGrpc.certFile = readFilePath(reader, value, given);
  },
  "--ssl-https-verify-peer": (settings, reader, value) => {
    if (value === "0" || value === "1") settings.sslHttps.verifyPeer = value === "1";
    else
      reader.fail(
        "--ssl-https-verify-peer",
        "Failed to parse --ssl-https-verify-peer. The value must be either 0 or 1.",
        value,
        "Give 0 or 1.",
      );
  },
  "--ssl-https-verify-host": (settings, reader, value) => {
    if (value === "0" || value === "1" || value === "2") settings.sslHttps.verifyHost = value !== "0";
    else
      reader.fail(
        "--ssl-https-verify-host",
        "Failed to parse --ssl-https-verify-host. The value must be either 0, 1, or 2.",
        value,
        "Give 0, 1 or 2.",
      );
  },
  "--ssl-https-ca-certificates-file": (settings, reader, value, given) => {
    settings.sslHttps.caFile = readFilePath(reader, value, given);
  },
  "--ssl-https-client-certificate-file": (settings, reader, value, given) => {
    settings.sslHttps.certFile = readFilePath(reader, value, given);
  },
  "--ssl-https-client-certificate-type": (settings, reader, value, given) => {
    settings.sslHttps.certType = readFileType(reader, value, given);
  },
  "--ssl-https-private-key-file": (settings, reader, value, given) => {
    settings.sslHttps.keyFile = readFilePath(reader, value, given);
  },
  "--ssl-https-private-key-type": (settings, reader, value, given) => {
    settings.sslHttps.keyType = readFileType(reader, value, given);
  },
};

function readFilePath(reader: ValueReader, value: string, { flag }: GivenFlag): string {
  const name = flagName(flag);
  if (!isFile(value))
    reader.fail(name, `Failed to parse ${name}. The value must be a valid file path.`, value, "Give an existing file.");
  return value;
}

function readFileType(reader: ValueReader, value: string, { flag }: GivenFlag): "PEM" | "DER" {
  if (value === "PEM" || value === "DER") return value;
  const name = flagName(flag);
  reader.fail(
    name,
    `Failed to parse ${name}. Unsupported type provided: '${value}'. The available options are 'PEM' or 'DER'.`,
    value,
    "Give PEM or DER.",
  );
  return "PEM";
}
