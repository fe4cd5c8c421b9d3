import type { OpenAiTargetPlan } from "../../plan/plan.ts";
import { messageOf } from "../../plan/problem.ts";
import { type Failure, ProtocolError } from "../../transport/failure.ts";
import type { InferCodec } from "../service.ts";

/** Keys stay where they are: servers may say them again in their errors, and errors are printed and written. */

const SECRET_HEADERS = /^(?:proxy-)?authorization$|^(?:x-)?api-key$/i;
const SCHEME = /^\S+\s+/;
const MASK = "***";
/** What is shorter is no key, and may stand in any text. */
const SHORTEST_KEY = 4;

/** The keys that a target's requests carry. */
export function secretsOf({ headers, apiKeyEnv }: Pick<OpenAiTargetPlan, "headers" | "apiKeyEnv">): string[] {
  const given = headers.flatMap(([name, value]) => (SECRET_HEADERS.test(name) ? [value.replace(SCHEME, "")] : []));
  const key = apiKeyEnv === undefined ? undefined : process.env[apiKeyEnv];
  return [...given, ...(key === undefined ? [] : [key])].filter((secret) => secret.length >= SHORTEST_KEY);
}

/** The codec, whose failures do not tell the secrets. */
export function hideSecrets(codec: InferCodec, secrets: readonly string[]): InferCodec {
  if (secrets.length === 0) return codec;
  const mask = (text: string): string => secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
  return {
    ...codec,
    explain: (failure, body): Failure => {
      const explained = codec.explain(failure, body);
      const { answer } = explained;
      return {
        ...explained,
        message: mask(explained.message),
        ...(answer === undefined ? {} : { answer: mask(answer) }),
      };
    },
    decode: (body, jsonBytes) => {
      try {
        return codec.decode(body, jsonBytes);
      } catch (error) {
        throw error instanceof ProtocolError ? new ProtocolError(mask(messageOf(error))) : error;
      }
    },
  };
}
