import { type SettingPath, TARGET_KIND } from "../../plan/messages.ts";
import { OPTIONS } from "./options/table.ts";

/** Names for settings without a single option, or that read better as a phrase. */
const PHRASES: Readonly<Partial<Record<SettingPath, string>>> = {
  "client.callMode=async": "--async",
  "load.kind=sessions": "--session-concurrency",
  "target.apiKeyEnv": '-H "Authorization: Bearer KEY"',
  "target.isStreaming": "-i grpc --streaming",
  "target.isStreaming=in-process": "--streaming",
  "target.kind=dynamic-grpc": "--service-kind dynamic_grpc --grpc-method PACKAGE.SERVICE/METHOD",
  "target.kind=openai": "--service-kind openai --async --endpoint v1/chat/completions",
  "target.kind=tfserving": "--service-kind tfserving -i grpc",
  "target.protocol=grpc": "-i grpc",
  "target.protocol=http": "-i http",
  "target.tls=false": "leave --ssl-grpc-use-ssl out",
  "target.tls=true": "give --ssl-grpc-use-ssl",
  "target.tls=identified-grpc": "--ssl-grpc-certificate-chain-file FILE --ssl-grpc-private-key-file FILE",
  "target.tls=identified-http": "--ssl-https-client-certificate-file FILE --ssl-https-private-key-file FILE",
  "target.tls=trusting-grpc": "--ssl-grpc-root-certifications-file FILE",
  "target.tls=trusting-http": "--ssl-https-ca-certificates-file FILE",
  "target.tls=unverified-http": "--ssl-https-verify-peer 0",
  "target.url=http": "write http:// in -u",
  "target.url=https": "write https:// in -u",
};

/** Returns the name of the option for a setting. Undefined if there is none. */
export function inPerfAnalyzer(path: SettingPath): string | undefined {
  if (path in PHRASES) return PHRASES[path];
  if (path.startsWith(TARGET_KIND)) return `--service-kind ${path.slice(TARGET_KIND.length)}`;
  return OPTIONS.find(({ setting }) => setting === path)?.names[0];
}
