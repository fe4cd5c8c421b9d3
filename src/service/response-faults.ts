import { maskSecrets } from "../plan/secrets.ts";

const PAGE = /^\uFEFF?\s*(?:<\?xml[^>]*>\s*|<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i;
const SHOWN_CHARACTERS = 200;

/** Describes an HTML page, without its title. */
export const PAGE_FOUND = "an HTML page came in place of a response";
/** Reasons why bytes are not a response of a JSON service. */
export const EMPTY_RESPONSE = "the response is empty";
export const NOT_JSON = "the response is not JSON";
export const NOT_OBJECT = "the response is not a JSON object";
export const SENT_ERROR = "the server sent an error within its response";

export function isPage(text: string): boolean {
  return PAGE.test(text);
}

/**
 * Describes a response that is an HTML page, such as a page of a proxy, or of a web server for an unknown path; undefined for any
 * other response. Ignores the content type, because small servers often send `text/html` for plain text.
 * @param reads the socket reads, in order
 */
export function explainPage(reads: readonly string[]): string | undefined {
  if (!/^[\uFEFF\s]*</.test(reads[0] ?? "")) return undefined;
  const text = reads.join("");
  if (!isPage(text)) return undefined;
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1] ?? text;
  return `${PAGE_FOUND}: ${maskSecrets(title.trim()).replace(/\s+/g, " ").slice(0, SHOWN_CHARACTERS)}`;
}
