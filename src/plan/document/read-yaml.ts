import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { MAX_JSON_DEPTH, TOO_DEEP } from "./json-depth.ts";

/** Reads external YAML or JSON. All settings are read here, so that no text can fill the memory or take minutes. */

/** Maximum size of a YAML text: 1 MiB. Its parser needs about 300 bytes of memory per byte. */
const MOST_YAML_BYTES = 1024 * 1024;
/** Maximum number of values, with aliases expanded. */
const MOST_VALUES = 200_000;
/** Maximum number of mistakes listed. */
const MOST_FAULTS = 20;

/** A mistake in a text. */
export interface YamlFault {
  /** Line and column: `3:5`. */
  readonly at: string;
  /** A sentence without a full stop. */
  readonly message: string;
  /** The parser's code, if the parser found the mistake. */
  readonly code?: ErrorCode;
}

/** A parsed text. */
export interface YamlText {
  /** The document with expanded aliases. Not to be used if there are faults. */
  readonly document: Document.Parsed;
  /** At most 20. */
  readonly faults: readonly YamlFault[];
  /** Returns the line and column of an offset: `3:5`. */
  at(offset: number): string;
}

/**
 * Parses a text. Larger texts, more than 200,000 values, more than 500 levels, and anchors that contain themselves are faults.
 * @param options of the parser: `version: "1.1"` reads like PyYAML, `merge` reads `<<`
 */
export function readYaml(text: string, options: { readonly version?: "1.1"; readonly merge?: boolean } = {}): YamlText {
  const lineCounter = new LineCounter();
  const at = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${line}:${col}`;
  };
  const isTooLong = text.length > MOST_YAML_BYTES;
  // The parser's search for equal keys is quadratic.
  const fixed = { lineCounter, prettyErrors: false, uniqueKeys: false, logLevel: "error" as const };
  const document = parseDocument(isTooLong ? "" : text, { ...options, ...fixed });
  const faults = isTooLong
    ? [{ at: "1:1", message: `the text is longer than ${MOST_YAML_BYTES / 1024} KiB` }]
    : findFaults(document, at);
  return { document, faults, at };
}

function findFaults(document: Document.Parsed, at: YamlText["at"]): YamlFault[] {
  // The parser recurses, and reports a stack overflow as a mistake at each level.
  const overflow = document.errors.findLast(({ message }) => message.includes("call stack"));
  if (overflow !== undefined) return [{ at: at(overflow.pos[0]), message: `the text ${TOO_DEEP}` }];
  const faults = document.errors.slice(0, MOST_FAULTS).map(({ pos: [offset], message, code }) => {
    return { at: at(offset), message: message.replace(/\.$/, ""), code };
  });
  if (faults.length > 0) return faults;
  const walk = new Walk();
  try {
    walk.measure(document.contents, 1);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    walk.faults.push({ node: error.node, message: error.message });
  }
  return walk.faults.slice(0, MOST_FAULTS).map(({ node, message, code }) => {
    return { at: at(node?.range?.[0] ?? 0), message, ...(code && { code }) };
  });
}

/** Ends a walk, because continuing would be too expensive. */
class Refusal extends Error {
  readonly node: Node | null;

  constructor(node: Node | null, message: string) {
    super(message);
    this.node = node;
  }
}

/** Size of a value with aliases expanded. */
interface Extent {
  readonly node: Node;
  /** Absent while the walk is inside of the value. */
  size?: { readonly values: number; readonly levels: number };
}

/** Expands aliases in the order of the text, so that the value of an anchor has been measured before its aliases. */
class Walk {
  readonly faults: { node: Node | null; message: string; code?: ErrorCode }[] = [];
  private readonly anchors = new Map<string, Extent>();
  private values = 0;

  /** Returns the number of levels of a node. @throws Refusal */
  measure(node: Node | null, depth: number): number {
    if (depth > MAX_JSON_DEPTH) throw new Refusal(node, `this ${TOO_DEEP}`);
    this.count(node, 1);
    const before = this.values;
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
    const extent: Extent | undefined = anchor === undefined || node === null ? undefined : { node };
    if (anchor !== undefined && extent !== undefined) this.anchors.set(anchor, extent);
    let levels = 0;
    for (const [child, replace] of this.childrenOf(node))
      levels = Math.max(
        levels,
        isAlias(child) ? this.replace(child, depth + 1, replace) : this.measure(child, depth + 1),
      );
    if (extent !== undefined) extent.size = { values: this.values - before + 1, levels: levels + 1 };
    return levels + 1;
  }

  private count(node: Node | null, values: number): void {
    this.values += values;
    if (this.values <= MOST_VALUES) return;
    throw new Refusal(node, `with aliases written out, the text has more than ${MOST_VALUES} values`);
  }

  /** Returns the number of levels of the alias's value. */
  private replace(alias: Node & { readonly source: string }, depth: number, put: (node: Node) => void): number {
    const extent = this.anchors.get(alias.source);
    // The parser has already reported an alias without an anchor.
    if (extent === undefined) return 1;
    if (extent.size === undefined) throw new Refusal(alias, `&${alias.source} contains itself`);
    if (depth + extent.size.levels - 1 > MAX_JSON_DEPTH) throw new Refusal(alias, `this ${TOO_DEEP}`);
    this.count(alias, extent.size.values);
    put(extent.node);
    return extent.size.levels;
  }

  private *childrenOf(node: Node | null): Generator<[child: Node | null, replace: (node: Node) => void]> {
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        if (isPair(item)) yield* this.partsOf(item as Pair);
        else
          yield [
            item as Node | null,
            (other) => {
              node.items[index] = other;
            },
          ];
      }
    }
    if (!isMap(node)) return;
    this.findEqualKeys(node);
    for (const pair of node.items) yield* this.partsOf(pair as Pair);
  }

  private *partsOf(pair: Pair): Generator<[child: Node | null, replace: (node: Node) => void]> {
    yield [
      pair.key,
      (other) => {
        pair.key = other;
      },
    ];
    yield [
      pair.value,
      (other) => {
        pair.value = other;
      },
    ];
  }

  private findEqualKeys(map: YAMLMap): void {
    const seen = new Set<unknown>();
    for (const { key } of map.items) {
      if (!isScalar(key)) continue;
      if (seen.has(key.value))
        this.faults.push({ node: key, message: "Map keys must be unique", code: "DUPLICATE_KEY" });
      seen.add(key.value);
    }
  }
}

interface Pair {
  key: Node | null;
  value: Node | null;
}
