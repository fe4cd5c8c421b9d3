import assert from "node:assert/strict";

/** Reads small XML documents strictly: what is not well formed throws. */

/** An element. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

const TOKEN = /<\?xml [^?]*\?>|<(\/?)([A-Za-z][\w.-]*)((?:\s+[\w.-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;

/** Returns the root element. */
export function readXml(xml: string): XmlElement {
  const root: XmlElement = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  let end = 0;
  for (const match of xml.matchAll(TOKEN)) {
    assert.equal(match.index, end, "not well formed");
    end += match[0].length;
    const [, slash, name, attributes = "", empty, text] = match;
    const parent = open.at(-1) as XmlElement;
    if (text !== undefined) parent.text += unescapeXml(text);
    else if (name === undefined) continue;
    else if (slash === "/") assert.equal(open.pop()?.name, name, "a closing tag without its opening tag");
    else {
      const element = { name, attributes: readAttributes(attributes), children: [], text: "" };
      parent.children.push(element);
      if (empty !== "/") open.push(element);
    }
  }
  assert.equal(end, xml.length, `not well formed: ${xml.slice(end, end + 40)}`);
  assert.equal(open.length, 1, "an element is not closed");
  assert.equal(root.children.length, 1);
  return root.children[0] as XmlElement;
}

function readAttributes(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([\w.-]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, unescapeXml(value)]),
  );
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  assert.doesNotMatch(text, /&(?!(?:amp|lt|gt|quot|apos|#\d+);)/, "an & that is not escaped");
  assert.doesNotMatch(text, /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u, "a character that XML forbids");
  return text.replace(/&(?:#(\d+)|(\w+));/g, (_all, code: string | undefined, name: string) =>
    code === undefined ? (NAMED[name] ?? "") : String.fromCodePoint(Number(code)),
  );
}
