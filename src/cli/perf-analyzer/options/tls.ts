import type { Plan } from "../../../plan/plan.ts";
import type { TlsPlan } from "../../../plan/tls.ts";
import { type Land, landAt, option, type UngroupedOption } from "./option.ts";
import { BOOL_WORDS, choice, existingFile, onOrOff } from "./readers.ts";

const FILE = {
  value: "FILE",
  parse: existingFile("The value must be a valid file path.", "Give an existing file."),
} as const;
const FILE_TYPE = choice(["PEM", "DER"]);
const PEER = choice(["0", "1"], { rule: () => "The value must be either 0 or 1." });
const HOST = choice(["0", "1", "2"], { rule: () => "The value must be either 0, 1, or 2." });

const ON_GRPC: { readonly land: Land } = {
  land: (plan, { sslGrpc }) => (grpcTls(plan) === undefined ? plan : landAt(plan, "target.tls", sslGrpc)),
};
const ON_HTTPS: { readonly land: Land } = {
  land: (plan, { sslHttps }) => (httpsTls(plan) === undefined ? plan : landAt(plan, "target.tls", sslHttps)),
};

/** TLS options for gRPC and for https. */
export const TLS: readonly UngroupedOption[] = [
  option("sslGrpc.isEnabled", {
    names: ["--ssl-grpc-use-ssl"],
    ...ON_GRPC,
    switchWords: BOOL_WORDS,
    help: "Use TLS with gRPC. true or false may follow.",
    parse: onOrOff,
    of: (plan) => grpcTls(plan)?.isEnabled,
  }),
  option("sslGrpc.caFile", {
    names: ["--ssl-grpc-root-certifications-file"],
    ...ON_GRPC,
    ...FILE,
    help: "PEM of the authorities to trust with gRPC.",
    of: (plan) => grpcTls(plan)?.caFile,
  }),
  option("sslGrpc.keyFile", {
    names: ["--ssl-grpc-private-key-file"],
    ...ON_GRPC,
    ...FILE,
    help: "PEM of the client's private key with gRPC.",
    of: (plan) => grpcTls(plan)?.keyFile,
  }),
  option("sslGrpc.certFile", {
    names: ["--ssl-grpc-certificate-chain-file"],
    ...ON_GRPC,
    ...FILE,
    help: "PEM of the client's certificates with gRPC.",
    of: (plan) => grpcTls(plan)?.certFile,
  }),
  option("sslHttps.verifyPeer", {
    names: ["--ssl-https-verify-peer"],
    ...ON_HTTPS,
    choices: PEER.choices,
    help: "0: accept a server's certificate whoever signed it.",
    parse: (reader) => isNot0(PEER.parse(reader)),
    of: (plan) => httpsTls(plan)?.verifyPeer,
    format: (isOn) => (isOn ? "1" : "0"),
  }),
  option("sslHttps.verifyHost", {
    names: ["--ssl-https-verify-host"],
    ...ON_HTTPS,
    choices: HOST.choices,
    help: "0: accept a server's certificate whatever name is in it. 1 means the same as 2.",
    parse: (reader) => isNot0(HOST.parse(reader)),
    of: (plan) => httpsTls(plan)?.verifyHost,
    format: (isOn) => (isOn ? "2" : "0"),
  }),
  option("sslHttps.caFile", {
    names: ["--ssl-https-ca-certificates-file"],
    ...ON_HTTPS,
    ...FILE,
    help: "PEM of the authorities to trust with https://.",
    of: (plan) => httpsTls(plan)?.caFile,
  }),
  option("sslHttps.certFile", {
    names: ["--ssl-https-client-certificate-file"],
    ...ON_HTTPS,
    ...FILE,
    help: "The client's certificate with https://.",
    of: (plan) => httpsTls(plan)?.certFile,
  }),
  option("sslHttps.certType", {
    names: ["--ssl-https-client-certificate-type"],
    ...ON_HTTPS,
    ...FILE_TYPE,
    help: "Form of that file.",
    of: (plan) => httpsTls(plan)?.certType,
  }),
  option("sslHttps.keyFile", {
    names: ["--ssl-https-private-key-file"],
    ...ON_HTTPS,
    ...FILE,
    help: "The client's private key with https://.",
    of: (plan) => httpsTls(plan)?.keyFile,
  }),
  option("sslHttps.keyType", {
    names: ["--ssl-https-private-key-type"],
    ...ON_HTTPS,
    ...FILE_TYPE,
    help: "Form of that file.",
    of: (plan) => httpsTls(plan)?.keyType,
  }),
];

function isNot0(value: string | undefined): boolean | undefined {
  return value === undefined ? undefined : value !== "0";
}

function grpcTls({ target }: Plan): TlsPlan | undefined {
  return "tls" in target && target.protocol === "grpc" ? target.tls : undefined;
}

function httpsTls({ target }: Plan): TlsPlan | undefined {
  return "tls" in target && target.protocol === "http" ? target.tls : undefined;
}
