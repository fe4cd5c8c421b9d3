import { readFileSync } from "node:fs";

/** Reads the JUnit files that the test runners of all three runtimes write. */

/** One test. */
export interface TestCase {
  readonly name: string;
  /** Why it failed; undefined when it passed. */
  readonly failure: string | undefined;
  readonly isSkipped: boolean;
}

/** The tests of a file. Throws when there is no such file. */
export function readJunit(path: string): TestCase[] {
  const text = readFileSync(path, "utf8");
  const cases: TestCase[] = [];
  // A test's element is closed at once or holds what went wrong.
  for (const match of text.matchAll(/<testcase\b((?:[^>"]|"[^"]*")*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
    const [, attributes = "", body = ""] = match;
    const failure = /<(?:failure|error)\b((?:[^>"]|"[^"]*")*?)(?:\/>|>([\s\S]*?)<\/(?:failure|error)>)/.exec(body);
    cases.push({
      name: readAttribute(attributes, "name"),
      failure:
        failure === null
          ? undefined
          : unescapeXml(`${readAttribute(failure[1] ?? "", "message")}\n${failure[2] ?? ""}`).trim(),
      isSkipped: /<skipped\b/.test(body),
    });
  }
  return cases;
}

function readAttribute(attributes: string, name: string): string {
  return unescapeXml(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
}

function unescapeXml(text: string): string {
  return text
    .replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, "$1")
    .replaceAll("&#10;", "\n")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
}
