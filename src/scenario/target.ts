/** What scenarios are told of their targets by their types. */

/** How the server is spoken to. */
export type Protocol = "http" | "grpc";

/**
 * What answers are made of, and so what can be measured and sent: `tensors`; `plain`: vectors, scores or boxes; `text`: text that comes at
 * once; `stream`: text that comes token by token.
 */
export type AnswerType = "tensors" | "plain" | "text" | "stream";

/** The first server and the others. */
export function splitUrls(url: string | readonly string[]): Pick<Target, "url" | "moreUrls"> {
  if (!Array.isArray(url)) return { url: url as string };
  const [first, ...moreUrls] = url as readonly string[];
  return { url: first as string, moreUrls };
}

/** A target over protocol `P` with answers of sort `A`. */
export interface Target<P extends Protocol = Protocol, A extends AnswerType = AnswerType> {
  readonly kind: "triton" | "embedded" | "openai" | "embedded-llm";
  readonly url: string;
  /** Further servers of the same model; absent: none. */
  readonly moreUrls?: readonly string[];
  readonly options: { readonly protocol?: P | undefined };
  /** Never set: it carries the sort of answers from the target to the assertions and inputs. */
  readonly answers?: A;
}
