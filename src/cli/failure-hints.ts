import { type NameOf, TARGET_KIND, type Text } from "../plan/messages.ts";
import type { Plan } from "../plan/plan.ts";
import { type FailureFacts, RunError, wordError } from "../plan/problem.ts";
import { SERVICE_KINDS, type ServerTargetPlan, serviceKindOf } from "../registry/service-kinds.ts";
import { type Diagnosis, diagnose } from "../run/judge/diagnosis.ts";

/** Hints on the most frequent mistakes. */

/** Returns a hint after a failure; undefined if the cause is unknown. May query the server's metadata. */
export async function findHint(plan: Plan, failure: FailureFacts): Promise<Text | undefined> {
  const diagnosis = await diagnose(plan, failure);
  const target = plan.target as ServerTargetPlan;
  return diagnosis && describeDiagnosis(diagnosis, target.protocol, hasGrpc(target));
}

/** Returns an error of a query with a hint, if known, in words. @param plan plan of the server */
export async function explainQuery(plan: Plan, error: unknown, nameOf: NameOf | undefined): Promise<unknown> {
  if (!(error instanceof RunError)) return error;
  const { failure } = error.facts;
  const hint = failure && (await findHint(plan, failure));
  return hint === undefined ? error : wordError(error.reword(error.text, hint), nameOf);
}

function hasGrpc(target: ServerTargetPlan): boolean {
  return serviceKindOf(target).api.probes.some(({ protocol }) => protocol === "grpc");
}

/** Returns the hint. @param protocol the requested protocol @param canUseGrpc whether gRPC is possible */
export function describeDiagnosis(diagnosis: Diagnosis, protocol: "http" | "grpc", canUseGrpc = true): Text {
  switch (diagnosis.code) {
    case "doubled-path":
      return { say: diagnosis.code, path: diagnosis.path, doubled: diagnosis.doubled };
    case "no-key":
      return { say: diagnosis.code, status: diagnosis.status };
    case "grpc-port":
    case "http-port": {
      const { code, address, port } = diagnosis;
      const say = code === "grpc-port" && !canUseGrpc ? "only-http" : code;
      return { say, address, port: port === undefined ? "" : ` (${port})` };
    }
    case "key-refused":
      return `The server refused the key that was sent (${diagnosis.status}): check its value and its permissions.`;
    case "redirected":
      return diagnosis.location === ""
        ? "The server redirects without a location; redirects are not followed."
        : { say: diagnosis.code, location: diagnosis.location };
    default:
      return describeServer(diagnosis, protocol);
  }
}

function describeServer(
  { code, address = "", asked }: { readonly code: string; readonly address?: string; readonly asked?: string },
  protocol: "http" | "grpc",
): Text {
  const [useTls, useNoTls] =
    protocol === "http"
      ? (["target.url=https", "target.url=http"] as const)
      : (["target.tls=true", "target.tls=false"] as const);
  switch (code) {
    case "tls-port":
      return { say: code, address, at: useTls };
    case "plain-port":
    case "no-tls":
      return { say: code, address, at: useNoTls };
    case "untrusted-certificate":
      return [`No trusted authority signed the certificate of ${address}. `, { say: `trust-${protocol}` }];
    case "other-name":
      return { say: code };
    case "outdated-certificate":
      return { say: `renew-${protocol}`, address };
    case "no-client-certificate":
      return { say: `identify-${protocol}` };
    default:
      return describeOther(code.replace(/-server$/, ""), asked, address);
  }
}

/** Describes a server of another kind. If the front door has no name for the kind, only the address can be changed. */
function describeOther(other: string, asked: string | undefined, address: string): Text {
  const kinds = Object.entries(SERVICE_KINDS);
  const [kind, entry] = kinds.find(([, { api }]) => api.name === other) ?? [];
  if (kind === undefined || entry === undefined) return { say: "unknown-server", address };
  const wanted = kinds.find(([, { api }]) => api.name === asked)?.[1].api.label;
  const what = wanted === undefined ? entry.api.label : `${entry.api.label}, not ${wanted}`;
  const at = `${TARGET_KIND}${kind}` as const;
  return { say: "other-server", address, what, use: { where: at, text: { say: "use-kind", at } } };
}
