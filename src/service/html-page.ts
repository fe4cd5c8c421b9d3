import { maskSecrets } from "../plan/secrets.ts";

const PAGE = /^\uFEFF?\s*(?:<\?xml[^>]*>\s*|<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i;
const SHOWN_CHARACTERS = 200;

/** What is wrong with such an answer, without its title. */
export const PAGE_FOUND = "an HTML page came in place of an answer";

/** Whether a text is an HTML page. */
export function isPage(text: string): boolean {
  return PAGE.test(text);
}

/**
 * What is wrong with an answer that is an HTML page, such as that of a proxy or of a web server that knows no such path; undefined for
 * anything else. Its content type is not looked at: many a small server gives that of a page to bare text.
 *
 * @param reads what was read, in order
 */
export function explainPage(reads: readonly string[]): string | undefined {
  if (!/^[\uFEFF\s]*</.test(reads[0] ?? "")) return undefined;
  const text = reads.join("");
  if (!isPage(text)) return undefined;
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1] ?? text;
  return `${PAGE_FOUND}: ${maskSecrets(title.trim()).replace(/\s+/g, " ").slice(0, SHOWN_CHARACTERS)}`;
}
