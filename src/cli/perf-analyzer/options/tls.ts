import { fieldOf } from "../../../plan/objects.ts";
import type { Plan } from "../../../plan/plan.ts";
import type { TlsPlan } from "../../../plan/tls.ts";
import { type ValueAt, withValue } from "../../options/place.ts";
import { type Entry, option, type Settings, type UngroupedOption } from "../settings.ts";
import { BOOL_WORDS, choice, existingFile, onOrOff } from "./readers.ts";

const FILE = {
  value: "FILE",
  parse: existingFile("The value must be a valid file path.", "Give an existing file."),
} as const;
const FILE_TYPE = choice(["PEM", "DER"]);
const PEER = choice(["0", "1"], { rule: () => "The value must be either 0 or 1." });
const HOST = choice(["0", "1", "2"], { rule: () => "The value must be either 0, 1, or 2." });

/** TLS options for gRPC and for https. */
export const TLS: readonly UngroupedOption[] = [
  tlsOption("sslGrpc.isEnabled", {
    names: ["--ssl-grpc-use-ssl"],
    switchWords: BOOL_WORDS,
    help: "Use TLS with gRPC. true or false may follow.",
    parse: onOrOff,
  }),
  tlsOption("sslGrpc.caFile", {
    names: ["--ssl-grpc-root-certifications-file"],
    ...FILE,
    help: "PEM of the authorities to trust with gRPC.",
  }),
  tlsOption("sslGrpc.keyFile", {
    names: ["--ssl-grpc-private-key-file"],
    ...FILE,
    help: "PEM of the client's private key with gRPC.",
  }),
  tlsOption("sslGrpc.certFile", {
    names: ["--ssl-grpc-certificate-chain-file"],
    ...FILE,
    help: "PEM of the client's certificates with gRPC.",
  }),
  tlsOption("sslHttps.verifyPeer", {
    names: ["--ssl-https-verify-peer"],
    choices: PEER.choices,
    help: "0: accept a server's certificate whoever signed it.",
    parse: (reader) => isNot0(PEER.parse(reader)),
    format: (isOn) => (isOn ? "1" : "0"),
  }),
  tlsOption("sslHttps.verifyHost", {
    names: ["--ssl-https-verify-host"],
    choices: HOST.choices,
    help: "0: accept a server's certificate whatever name is in it. 1 means the same as 2.",
    parse: (reader) => isNot0(HOST.parse(reader)),
    format: (isOn) => (isOn ? "2" : "0"),
  }),
  tlsOption("sslHttps.caFile", {
    names: ["--ssl-https-ca-certificates-file"],
    ...FILE,
    help: "PEM of the authorities to trust with https://.",
  }),
  tlsOption("sslHttps.certFile", {
    names: ["--ssl-https-client-certificate-file"],
    ...FILE,
    help: "The client's certificate with https://.",
  }),
  tlsOption("sslHttps.certType", {
    names: ["--ssl-https-client-certificate-type"],
    ...FILE_TYPE,
    help: "Form of that file.",
  }),
  tlsOption("sslHttps.keyFile", {
    names: ["--ssl-https-private-key-file"],
    ...FILE,
    help: "The client's private key with https://.",
  }),
  tlsOption("sslHttps.keyType", {
    names: ["--ssl-https-private-key-type"],
    ...FILE_TYPE,
    help: "Form of that file.",
  }),
];

function isNot0(value: string | undefined): boolean | undefined {
  return value === undefined ? undefined : value !== "0";
}

const PROTOCOLS = { sslGrpc: "grpc", sslHttps: "http" } as const;

type TlsPlace = `${keyof typeof PROTOCOLS}.${keyof TlsPlan}`;

/** Creates an option that applies to a target of its protocol. */
function tlsOption<P extends TlsPlace>(
  at: P,
  entry: Omit<Entry<ValueAt<P, Settings>>, "of" | "land">,
): UngroupedOption {
  const [group, key] = at.split(".") as [keyof typeof PROTOCOLS, keyof TlsPlan];
  const tlsOf = ({ target }: Plan): TlsPlan | undefined =>
    target.protocol === PROTOCOLS[group] ? fieldOf(target, "tls") : undefined;
  return option(at, {
    ...entry,
    of: (plan) => tlsOf(plan)?.[key] as ValueAt<P, Settings> | undefined,
    land: (plan, settings) => (tlsOf(plan) === undefined ? plan : withValue(plan, "target.tls", settings[group])),
  });
}
