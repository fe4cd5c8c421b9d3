import type { KeyObject, X509Certificate } from "node:crypto";
import { messageOf, type Problem, problem, UserError, unreadable } from "../../plan/problem.ts";
import type { TlsPlan } from "../../plan/tls.ts";
import { MOST_SETTINGS_BYTES, readFileBytes } from "../../runtime/files.ts";
import type { TlsSettings } from "../../runtime/tls.ts";

const CERTIFICATE = /-----BEGIN (?:X509 )?CERTIFICATE-----[\s\S]*?-----END (?:X509 )?CERTIFICATE-----/g;
const ANY_CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/;
const KEY = /-----BEGIN (?:\w+ )?PRIVATE KEY-----[\s\S]*?-----END (?:\w+ )?PRIVATE KEY-----/;
const ENCRYPTED_KEY = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;
/** First byte of DER certificates and keys. */
const DER_SEQUENCE = 0x30;

/**
 * Reads the TLS files of a plan as PEM. Parses them, because TLS would report an invalid file only as a failed handshake.
 * @throws UserError with each file that cannot be read or parsed
 */
export function readTls(plan: TlsPlan, alpn: readonly string[]): TlsSettings {
  const problems: Problem[] = [];
  const read = (path: string, what: string, toPem: (bytes: Buffer) => string): string | undefined => {
    if (path === "") return undefined;
    let bytes: Buffer;
    try {
      bytes = readFileBytes(path, MOST_SETTINGS_BYTES);
    } catch (error) {
      problems.push(...unreadable(path, error, `Give an existing ${what}.`).problems);
      return undefined;
    }
    try {
      return toPem(bytes);
    } catch (error) {
      const message = `is not a ${what}: ${messageOf(error)}`;
      problems.push(problem("unreadable", path, message, "Give a file of this type."));
      return undefined;
    }
  };
  const certificate = plan.certType === "DER" ? certificateToPem : checkCertificates;
  const caPem = read(plan.caFile, "PEM file of certificates", checkCertificates);
  const certPem = read(plan.certFile, `${plan.certType} certificate`, certificate);
  // Like in curl, the file of the certificate may have the key too.
  const isBoth = plan.keyFile === "" && certPem !== undefined && KEY.test(certPem);
  const settings = {
    alpn,
    caPem,
    certPem,
    keyPem: isBoth
      ? read(plan.certFile, "PEM private key", checkKey)
      : read(plan.keyFile, `${plan.keyType} private key`, plan.keyType === "DER" ? privateKeyToPem : checkKey),
    verifyPeer: plan.verifyPeer,
    verifyHost: plan.verifyHost,
  };
  if (problems.length === 0) problems.push(...checkPair(plan, settings));
  if (problems.length > 0) throw new UserError(problems);
  return settings;
}

/** Checks that there are both a certificate and its key, or neither: TLS would not send one alone. */
function checkPair(
  { certFile, keyFile }: TlsPlan,
  { certPem, keyPem }: Pick<TlsSettings, "certPem" | "keyPem">,
): Problem[] {
  if (certPem === undefined && keyPem === undefined) return [];
  if (keyPem === undefined)
    return [problem("missing", certFile, "is a certificate without its private key", "Give the key too.")];
  if (certPem === undefined)
    return [problem("missing", keyFile, "is a private key without its certificate", "Give the certificate too.")];
  const [first = ""] = certPem.match(CERTIFICATE) ?? [];
  if (first === "" || isPair(toCertificate(first), toKey(keyPem))) return [];
  return [
    problem("mismatch", keyFile || certFile, `is not the key of ${certFile}`, "Give a certificate and its own key."),
  ];
}

function isPair(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    return certificate.checkPrivateKey(key);
  } catch {
    // Not every runtime supports every key type; the handshake will fail if necessary.
    return true;
  }
}

function checkCertificates(bytes: Buffer): string {
  const text = textOf(bytes);
  if (!ANY_CERTIFICATE.test(text)) throw new Error("it has no BEGIN CERTIFICATE");
  for (const [pem] of text.matchAll(CERTIFICATE)) toCertificate(pem);
  return text;
}

function checkKey(bytes: Buffer): string {
  const text = textOf(bytes);
  if (ENCRYPTED_KEY.test(text)) throw new Error("it is encrypted, and there is no way to give a passphrase");
  const [key] = KEY.exec(text) ?? [];
  if (key === undefined) throw new Error("it has no BEGIN PRIVATE KEY");
  toKey(key);
  return key;
}

function textOf(bytes: Buffer): string {
  if (bytes[0] === DER_SEQUENCE) throw new Error("it is DER");
  return bytes.toString("utf8");
}

function toCertificate(pem: string | Buffer): X509Certificate {
  const { X509Certificate } = process.getBuiltinModule("node:crypto");
  return new X509Certificate(pem);
}

function toKey(pem: string): KeyObject {
  return process.getBuiltinModule("node:crypto").createPrivateKey(pem);
}

function certificateToPem(der: Buffer): string {
  if (ANY_CERTIFICATE.test(der.toString("latin1"))) throw new Error("it is PEM");
  return toCertificate(der).toString();
}

/** Tries the usual DER formats of a private key (PKCS #8, SEC 1, PKCS #1), because the file does not name its format. */
function privateKeyToPem(der: Buffer): string {
  if (der.toString("latin1").includes("-----BEGIN ")) throw new Error("it is PEM");
  const { createPrivateKey } = process.getBuiltinModule("node:crypto");
  let first: unknown;
  for (const type of ["pkcs8", "sec1", "pkcs1"] as const) {
    try {
      return createPrivateKey({ key: der, format: "der", type }).export({ type: "pkcs8", format: "pem" }).toString();
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}
