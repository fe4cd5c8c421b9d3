/** The protocol of requests. */
export type Protocol = "http" | "grpc";

/**
 * The type of responses, which determines what can be measured and sent: `tensors`; `vectors`, scores or boxes; `text` that arrives at
 * once; `stream`: text that arrives token by token; `plain`: responses of any other API; `messages` of a type that the user defines, like
 * the requests; `bytes`: anything, which is not read; `mixed`: for a mix, in addition to the types of its members.
 */
export type ResponseType = "tensors" | "vectors" | "plain" | "text" | "stream" | "messages" | "bytes" | "mixed";

/** Returns the first server and the others. */
export function splitUrls(url: string | readonly string[]): Pick<Target, "url" | "moreUrls"> {
  if (!Array.isArray(url)) return { url: url as string };
  const [first, ...moreUrls] = url as readonly string[];
  return { url: first as string, moreUrls };
}

/**
 * A target with protocol `P` and responses of type `A`. `X` are the references for assertions, as texts: values that it extracts, such
 * as `"extracted: tokens"`, and members of a mix, such as `"target: chat"`.
 */
export interface Target<
  P extends Protocol = Protocol,
  A extends ResponseType = ResponseType,
  X extends string = string,
> {
  /** Selects the entry in the table of builders. */
  readonly kind: string;
  /** Address of the server; empty for a target without one. */
  readonly url: string;
  /** Additional servers of the same model. Absent: none. */
  readonly moreUrls?: readonly string[];
  /** The options of the builder, not yet checked. */
  readonly options: { readonly protocol?: P | undefined };
  /** Never set; only carries the type of responses to assertions and inputs. */
  readonly responses?: A;
  /** Never set; only carries the references to assertions. */
  readonly refersTo?: X;
}
