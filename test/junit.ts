import { readFileSync } from "node:fs";

/** Reads the JUnit files that the test runners of all three runtimes write. */

/** One test. */
export interface TestCase {
  readonly name: string;
  /** Why it failed; undefined when it passed. */
  readonly failure: string | undefined;
  readonly isSkipped: boolean;
  /** Its file, as the runner names it, and how long it took; absent for a check. */
  readonly file?: string;
  readonly timeSec?: number;
}

/** The tests of a file. Throws when there is no such file. */
export function readJunit(path: string): TestCase[] {
  return parseJunit(readFileSync(path, "utf8"));
}

/** The tests of a JUnit text. */
export function parseJunit(text: string): TestCase[] {
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
      // Deno has the file as the class.
      file: readAttribute(attributes, "file") || readAttribute(attributes, "classname"),
      timeSec: Number(readAttribute(attributes, "time")),
    });
  }
  return cases;
}

/** Returns how long the files took that took longest, the longest first, in seconds. */
export function longestFiles(cases: readonly TestCase[], most: number): (readonly [file: string, timeSec: number])[] {
  const sums = new Map<string, number>();
  const names = new Set(cases.map(({ name, file }) => `${file} ${name}`));
  for (const { name, file = "", timeSec = 0 } of cases) {
    // Deno lists the steps of a test too, whose time is part of the test's; some with a file of its own.
    const isStep = name.includes(" > ") && names.has(`${file} ${name.slice(0, name.indexOf(" > "))}`);
    if (!isStep && !file.startsWith("ext:")) sums.set(file, (sums.get(file) ?? 0) + timeSec);
  }
  return [...sums].sort(([, a], [, b]) => b - a).slice(0, most);
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
