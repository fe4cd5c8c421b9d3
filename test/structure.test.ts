import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ENDPOINT_TYPES } from "../src/cli/genai-perf/endpoints.ts";
import { LOAD_NAMES } from "../src/cli/genai-perf/loads.ts";
import { INPUT_KINDS } from "../src/registry/input-kinds.ts";
import { LOAD_MODES } from "../src/registry/load-modes.ts";
import { TARGETS } from "../src/registry/service-kinds.ts";

/** The house rules: which folder may know which, and what source files look like. */

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SRC = join(ROOT, "src");

/** A folder imports only from itself and from folders further down in this list. */
const ORDER =
  "cli wizard campaign report run scenario mock registry result telemetry measure load inputs tokenize service transport plan runtime".split(
    " ",
  );
/** These may import anything. */
const ENTRIES = ["main.ts", "worker.ts", "index.ts"];
const GUIDE = "README.md";
const MOST_LINES = 360; // about 350
/** Files that are mostly tables, which may run long. */
const TABLES = ["transport/http2/hpack.ts"];
const TOP_LEVEL =
  "LICENSE README.md compile deno.json dist node_modules package-lock.json package.json scenarios src test tsconfig.json".split(
    " ",
  );

interface Source {
  /** Below `src`, with slashes. */
  readonly path: string;
  readonly text: string;
  /** Without comments and without the contents of strings. */
  readonly code: string;
  /** Every module it imports or re-exports, type imports and dynamic ones included. */
  readonly imports: readonly string[];
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const sources: readonly Source[] = filesBelow(SRC)
  .filter((path) => path.endsWith(".ts"))
  .map((path) => readSource(relative(SRC, path).replaceAll("\\", "/"), readFileSync(path, "utf8")));

function readSource(path: string, text: string): Source {
  const uncommented = withoutComments(text);
  const patterns = [
    /\bfrom\s+["']([^"']+)["']/g,
    /\bimport\s*\(\s*["']([^"']+)["']/g,
    /^\s*import\s+["']([^"']+)["']/gm,
  ];
  // Scenario text that is written for users stands in templates: its imports are not this file's.
  const untemplated = uncommented.replace(/`(?:[^`\\]|\\.)*`/g, "``");
  const imports = patterns.flatMap((pattern) => [...untemplated.matchAll(pattern)].map((match) => match[1] as string));
  return { path, text, code: uncommented.replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""'), imports };
}

/** Comments out; strings and templates are skipped, so that `//` in a URL stays. */
function withoutComments(text: string): string {
  const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  return text.replace(tokens, (token) => (token.startsWith("/*") || token.startsWith("//") ? " " : token));
}

function resolveImport(from: string, specifier: string): string {
  return relative(SRC, join(SRC, dirname(from), specifier)).replaceAll("\\", "/");
}

/** The import's offence against the order; undefined when it is allowed. */
function offence(from: string, to: string): string | undefined {
  const [folder = "", rest] = from.split("/");
  if (rest === undefined) return undefined;
  const target = to.split("/")[0] as string;
  const own = ORDER.indexOf(folder);
  const other = ORDER.indexOf(target);
  if (own < 0) return `${from}: folder ${folder} is not in the list`;
  return other >= own ? undefined : `${from} imports ${to}`;
}

test("a folder imports only from folders below it, type imports included", () => {
  const offences = sources.flatMap(({ path, imports }) =>
    imports
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => offence(path, resolveImport(path, specifier)))
      .filter((found) => found !== undefined),
  );
  assert.deepEqual(offences, []);
});

/** Files that import each other in a circle, the circle's first file named twice. */
function findCycle(imports: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const next of imports.get(path) ?? []) {
      const cycle = visit(next, [...trail, path]);
      if (cycle !== undefined) return cycle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of imports.keys()) {
    const cycle = visit(path, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** The two folders beside each other that hold these files; undefined when one file's folder is inside the other's. */
function siblingFolders(from: string, to: string): readonly [string, string] | undefined {
  const [own, other] = [dirname(from).split("/"), dirname(to).split("/")];
  const depth = own.findIndex((name, index) => name !== other[index]);
  if (own[0] === "." || other[0] === "." || depth < 0 || depth >= other.length) return undefined;
  return [own.slice(0, depth + 1).join("/"), other.slice(0, depth + 1).join("/")];
}

test("folders beside each other import in one direction only, type imports included", () => {
  const edges = new Map<string, string[]>();
  for (const { path, imports } of sources)
    for (const specifier of imports.filter((one) => one.startsWith("."))) {
      const [own, other] = siblingFolders(path, resolveImport(path, specifier)) ?? [];
      if (own !== undefined && other !== undefined) edges.set(own, [...(edges.get(own) ?? []), other]);
    }
  assert.equal(findCycle(edges)?.join(" → "), undefined);
  assert.deepEqual(siblingFolders("run/send/groups/a.ts", "run/judge/b.ts"), ["run/send", "run/judge"]);
  assert.equal(siblingFolders("run/send/groups/a.ts", "run/send/b.ts"), undefined);
  assert.equal(siblingFolders("run/b.ts", "run/send/a.ts"), undefined);
});

test("what no other file names is not exported", () => {
  const files = ["src", "test", "compile"].flatMap((folder) => filesBelow(join(ROOT, folder)));
  const namedIn = new Map<string, number>();
  for (const path of files.filter((file) => /\.m?ts$/.test(file)))
    for (const name of new Set(readFileSync(path, "utf8").match(/\b[A-Za-z_]\w*/g)))
      namedIn.set(name, (namedIn.get(name) ?? 0) + 1);
  const exports = /^export (?:async )?(?:function\*?|const|(?:abstract )?class) (\w+)/gm;
  const unused = sources.flatMap(({ path, text }) =>
    [...text.matchAll(exports)]
      .filter(([, name]) => !ENTRIES.includes(path) && namedIn.get(name as string) === 1)
      .map(([, name]) => `${path}: ${name}`),
  );
  assert.deepEqual(unused, []);
});

test("no files import each other in a circle, type imports included", () => {
  const resolved = sources.map(
    ({ path, imports }) =>
      [
        path,
        imports
          .filter((specifier) => specifier.startsWith("."))
          .map((specifier) => resolveImport(path, specifier))
          // The public interface looks at its own exports.
          .filter((other) => other !== path),
      ] as const,
  );
  assert.equal(findCycle(new Map(resolved))?.join(" → "), undefined);
  const circle = new Map([
    ["a", ["b", "d"]],
    ["b", ["c"]],
    ["c", ["b"]],
  ]);
  assert.deepEqual(findCycle(circle), ["b", "c", "b"]);
});

test("the check of the order works", () => {
  assert.equal(offence("run/driver.ts", "load/pacer.ts"), undefined);
  assert.equal(offence("run/driver.ts", "run/feed.ts"), undefined);
  assert.equal(offence("main.ts", "cli/commands.ts"), undefined);
  assert.match(offence("load/pacer.ts", "run/driver.ts") ?? "", /load\/pacer\.ts imports run\/driver\.ts/);
  assert.match(offence("run/driver.ts", "main.ts") ?? "", /imports main\.ts/);
  assert.match(offence("runtime/clock.ts", "plan/plan.ts") ?? "", /imports/);
  assert.match(offence("helpers/a.ts", "plan/plan.ts") ?? "", /not in the list/);
  const sample = readSource(
    "x.ts",
    'import type { A } from "../a.ts";\nexport * from "./b.ts";\nawait import("./c.ts");\n// from "./no.ts"',
  );
  assert.deepEqual(sample.imports, ["../a.ts", "./b.ts", "./c.ts"]);
});

test("reports and runs both depend on results, not on each other", () => {
  const reaching = sources.flatMap(({ path, imports }) => {
    const other = path.startsWith("report/") ? "run/" : path.startsWith("run/") ? "report/" : undefined;
    const found = imports.filter((one) => one.startsWith(".")).map((one) => resolveImport(path, one));
    return found.filter((one) => other !== undefined && one.startsWith(other)).map((one) => `${path} → ${one}`);
  });
  assert.deepEqual(reaching, []);
});

test("sweeps, searches, repeated runs and checkpoints know nothing of genai-perf mode", () => {
  const knowing = sources
    .filter(({ path }) => path.startsWith("campaign/"))
    .flatMap(({ path, imports }) => imports.map((one) => `${path} → ${resolveImport(path, one)}`));
  assert.deepEqual(
    knowing.filter((one) => one.includes("/genai-perf/")),
    [],
  );
  assert.ok(knowing.length > 0);
});

/** The files of genai-perf mode that run what was planned. */
const AFTER_PLAN = /^cli\/genai-perf\/(?:analyze\/|checkpoint\/|profile\/|dry-run\.ts)/;

test("genai-perf mode reads its options until it has a plan, and then the plan", () => {
  const readers = sources.filter(
    ({ path, imports }) =>
      AFTER_PLAN.test(path) && imports.some((one) => /\/options\/(?:asked|values-builder)\.ts$/.test(one)),
  );
  assert.deepEqual(
    readers.map(({ path }) => path),
    [],
  );
  const knowing = sources.filter(({ text }) => /\bGenaiOutputs\b|\boutputs\.genaiPerf\b/.test(withoutComments(text)));
  const others = knowing.filter(({ path }) => !/^(?:cli|report)\/genai-perf\//.test(path));
  assert.deepEqual(
    others.map(({ path }) => path),
    [],
    "only GenAI-Perf's own outputs need these",
  );
});

test("src contains only the entries and the folders of the list", () => {
  const unknown = readdirSync(SRC).filter((name) => ![...ORDER, ...ENTRIES, GUIDE].includes(name));
  assert.deepEqual(unknown, []);
  assert.ok(sources.length > 80, `only ${sources.length} files were found`);
});

test("no folder has more than 25 files", () => {
  const counts = new Map<string, number>();
  for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  assert.deepEqual(
    [...counts].filter(([, count]) => count > 25),
    [],
  );
});

test("relative imports name a file with its ending, and the file is there", () => {
  const paths = new Set(sources.map(({ path }) => path));
  const bad = sources.flatMap(({ path, imports }) =>
    imports
      .filter((specifier) => specifier.startsWith("."))
      .filter((specifier) => !specifier.endsWith(".ts") || !paths.has(resolveImport(path, specifier)))
      .map((specifier) => `${path}: ${specifier}`),
  );
  assert.deepEqual(bad, []);
});

test("other imports are Node's modules with their prefix, or dependencies", () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const bad = sources.flatMap(({ path, imports }) =>
    imports
      .filter((specifier) => !specifier.startsWith(".") && !specifier.startsWith("node:"))
      .filter(
        (specifier) =>
          !Object.keys(dependencies).some((name) => specifier === name || specifier.startsWith(`${name}/`)),
      )
      .map((specifier) => `${path}: ${specifier}`),
  );
  assert.deepEqual(bad, []);
});

test("only transport/, mock/ and runtime/ know sockets; load/ and measure/ know no clock", () => {
  const bad = sources.flatMap(({ path, imports, code }) => {
    const [folder = ""] = path.split("/");
    const opens = imports.filter((name) => /^node:(net|tls|http|http2|https|dgram)$/.test(name));
    const found = ["transport", "mock", "runtime"].includes(folder) ? [] : opens.map((name) => `${path}: ${name}`);
    const readsClock = /\b(nowNs|Date\.now|performance\.now|setTimeout|setInterval|setImmediate)\b/.test(code);
    return ["load", "measure", "service", "plan"].includes(folder) && readsClock
      ? [...found, `${path}: a clock`]
      : found;
  });
  assert.deepEqual(bad, []);
});

test(`no file is longer than ${MOST_LINES} lines unless it is a table`, () => {
  const long = sources
    .map(({ path, text }) => ({ path, lines: text.split("\n").length }))
    .filter(({ path, lines }) => lines > MOST_LINES && !TABLES.includes(path))
    .map(({ path, lines }) => `${path}: ${lines}`);
  assert.deepEqual(long, []);
});

/** Files below this number of lines that serve one neighbour are part of it. */
const SMALL_LINES = 60;
/** Tables with a file for each entry, or for each kind of entries: one may be small. */
const FILE_TABLES = [
  "measure/metrics/catalogue.ts",
  "report/genai-perf/files.ts",
  "report/model-files.ts",
  "report/plots/chart-option.ts",
  "report/read/runs/read-runs.ts",
  "wizard/goals/goals.ts",
  "cli/perf-analyzer/options/table.ts",
  "cli/perf-analyzer/kinds/kinds.ts",
  "mock/services/table.ts",
];
/** Each front door has its names of settings at the same place, and `compile/bundle.ts` replaces the declarations. */
const UNMERGED = /setting-names\.ts →|^cli\/types\/declarations\.ts/;

/** Small files with one importer in the same folder, as `file → importer`. */
function smallNeighbours(of: readonly Source[]): string[] {
  const lineCount = ({ text }: Source): number => text.split("\n").length - 1;
  const importers = new Map<string, Source[]>();
  for (const source of of)
    for (const specifier of new Set(source.imports.filter((one) => one.startsWith(".")))) {
      const path = resolveImport(source.path, specifier);
      if (path !== source.path) importers.set(path, [...(importers.get(path) ?? []), source]);
    }
  return of.flatMap((source) => {
    const [user, ...others] = importers.get(source.path) ?? [];
    if (user === undefined || others.length > 0 || dirname(user.path) !== dirname(source.path)) return [];
    const isLoadedLater = new RegExp(`import\\("\\./${basename(source.path)}"\\)`).test(user.text);
    const isSmall = lineCount(source) < SMALL_LINES && lineCount(source) + lineCount(user) <= MOST_LINES;
    return !isSmall || isLoadedLater || FILE_TABLES.includes(user.path) ? [] : [`${source.path} → ${user.path}`];
  });
}

test("a file below 60 lines with one importer in its folder is part of it, unless it is an entry of a table", () => {
  const found = smallNeighbours(sources).filter((one) => !UNMERGED.test(one));
  assert.deepEqual(found, [], "merge the first with the second; a file that is loaded with import() stays");
  const [user, later, two] = ['import "./b.ts";', 'await import("./b.ts");', 'import "../a/b.ts";'];
  const ways = (...users: string[]): string[] =>
    smallNeighbours([readSource("a/b.ts", ""), ...users.map((text, at) => readSource(`a/user-${at}.ts`, text ?? ""))]);
  assert.deepEqual(ways(user), ["a/b.ts → a/user-0.ts"]);
  assert.deepEqual([ways(later), ways(user, two)], [[], []]);
});

/** Tests of kinds outside the kinds' own files. The number only goes down: ask the entry of the table instead. */
const MOST_KIND_TESTS = 8;
/** Where kinds are at home. */
const KIND_HOMES = /^((service\/[^/]+|load|inputs)\/|cli\/genai-perf\/(loads|endpoints)\.ts$)/;

const TABLES_OF_KINDS = [TARGETS, LOAD_MODES, INPUT_KINDS, ENDPOINT_TYPES];
const KINDS = [...TABLES_OF_KINDS.flatMap((table) => Object.keys(table)), ...LOAD_NAMES].join("|");
/** The form of requests, which `"payloads"` names too, and the contents of a single request are no kinds of an entry. */
const FORM = /\b(takes|makes)(\([\w.]+\))?\s*[!=]==?\s*"payloads"$|"bytes" in record\.inputs$/;

/**
 * Where code compares anything with the name of a kind, of a target, a load, inputs, an endpoint type or a load of genai-perf; and where it
 * asks a part of a plan, or a source of prompts, for its kind in another way.
 */
function kindTests(code: string): string[] {
  const name = `["'](?:${KINDS})["']`;
  return [
    String.raw`(?:[\w$.?!()]+\s*)?[!=]==?\s*${name}`,
    String.raw`${name}\s*[!=]==?\s*[\w$.?!]+`,
    `case ${name}:`,
    String.raw`\[[^\]]*${name}[^\]]*\](?:\s+as const)?\.includes\(`,
    // A part of a plan, or the way in which its levels are given, beside any name; and a field that only some kinds have.
    String.raw`\b(?:target|load|inputs|source|levels|stimulus)\)?[?!]?\.kind\s*[!=]==?\s*(?!${name})[\w$"'.?!-]+`,
    String.raw`["']\w+["'] in (?:\w+\.)*(?:target|load|inputs|source)\b`,
  ]
    .flatMap((pattern) => [...code.matchAll(new RegExp(pattern, "g"))].map(([text]) => text))
    .filter((text) => !FORM.test(text));
}

test(`kinds are tested at ${MOST_KIND_TESTS} places at most outside of their own files`, () => {
  const found = sources
    .filter(({ path }) => !KIND_HOMES.test(path))
    .flatMap(({ path, text }) => kindTests(withoutComments(text)).map((what) => `${path}: ${what}`));
  assert.ok(found.length <= MOST_KIND_TESTS, `${found.length}: ask the table's entry instead of\n${found.join("\n")}`);
});

test("tests of kinds are found in all their forms", () => {
  for (const code of [
    'if (plan.load.kind === "concurrency") go();',
    'if ("openai" !== target.kind) go();',
    'const { kind } = inputs; return kind == "json";',
    'serviceKind === "triton"',
    'endpoint.type !== "kserve"',
    'stimulus.kind === "request_rate"',
    'levels[0]?.unit === "request-rate"',
    'inputs.kind === "payloads"',
    '["intervals", "fixed-schedule"].includes(load.kind)',
    "if (plan.load.kind === kind) go();",
    'load.levels.kind === "range"',
    'prompts.source.kind === "synthetic"',
    'if ("members" in plan.target) go();',
    'switch (load.kind) { case "intervals": go(); }',
    'switch (stimulus.kind) { case "fixed_schedule": go(); }',
  ])
    assert.equal(kindTests(code).length, 1, code);
  for (const code of ['drive.kind === "closed"', 'kind.takes(target) === "payloads"', 'given.makes !== "payloads"'])
    assert.deepEqual(kindTests(code), [], code);
});

/** Modules that are loaded with `import()`: doors of commands, kinds, much code and libraries. The number only goes down. */
const MOST_LAZY_IMPORTS = 70;

test(`modules are loaded with import() at ${MOST_LAZY_IMPORTS} places at most`, () => {
  // In types, import() loads nothing.
  const found = sources.flatMap(({ path, code }) => (code.match(/(?<!typeof )\bimport\(/g) ?? []).map(() => path));
  assert.ok(found.length <= MOST_LAZY_IMPORTS, `${found.length}: import it at the top instead\n${found.join("\n")}`);
});

/** Casts through `unknown`, which the compiler does not check. The number only goes down. */
const MOST_DOUBLE_CASTS = 13;

/** Longer lists of parameters, all of them where nothing is sent. This number only goes down. */
const MOST_LONG_LISTS = 59;
const MOST_PARAMETERS = 4;

/** Returns the lists of more than four parameters in code without comments and the contents of strings: where each begins. */
function longLists(code: string): number[] {
  const found: number[] = [];
  for (let at = code.indexOf("("); at >= 0; at = code.indexOf("(", at + 1)) {
    const { parts, end } = partsOf(code, at);
    if (parts.length <= MOST_PARAMETERS) continue;
    const isArrow = /^\s*=>/.test(code.slice(end + 1, end + 10));
    const isTyped = parts.every((part) => /^(?:\.{3})?(?:[\w$]+\??|\{[\s\S]*\}|\[[\s\S]*\])\s*[:=]/.test(part));
    if (isArrow || isTyped) found.push(at);
  }
  return found;
}

/** Returns what commas separate between a parenthesis and its end. */
function partsOf(code: string, open: number): { readonly parts: readonly string[]; readonly end: number } {
  const parts: string[] = [];
  let depth = 0;
  let from = open + 1;
  let at = open;
  for (; at < code.length; at++) {
    const character = code[at] as string;
    const isTypeStart = character === "<" && /\w/.test(code[at - 1] ?? "");
    const isTypeEnd = character === ">" && depth > 1 && !/[=\s]/.test(code[at - 1] ?? "");
    if ("([{".includes(character) || isTypeStart) depth++;
    else if (")]}".includes(character) || isTypeEnd) depth--;
    if (depth === 0) break;
    if (depth > 1 || character !== ",") continue;
    parts.push(code.slice(from, at).trim());
    from = at + 1;
  }
  parts.push(code.slice(from, at).trim());
  return { parts: parts.filter((part) => part !== ""), end: at };
}

test("no function takes more than four parameters in the folders that run and send", () => {
  const long = sources.flatMap(({ path, code }) =>
    longLists(code).map((at) => `${path}: ${code.slice(code.lastIndexOf("\n", at) + 1, at).trim()}`),
  );
  assert.ok(long.length <= MOST_LONG_LISTS, `${long.length}:\n${long.join("\n")}`);
  const sending = long.filter((one) => /^(?:run|transport|load|tokenize|telemetry|result|registry)\//.test(one));
  assert.deepEqual(sending, []);
  assert.equal(longLists("function f(a: A, b: Map<B, C>, { c, d }: D, e = 1, ...f: F[]) {}").length, 1);
  assert.equal(longLists("(a, b, c, d, e) => {}; f(a, b, c, d, e); new F(a, b, c, d, e)").length, 1);
  assert.equal(longLists("f(a: { b: B; c: C }, [d, e]: [D, E]): void; if (a < b, c) {}").length, 0);
});

test(`types are cast through unknown at ${MOST_DOUBLE_CASTS} places at most`, () => {
  const found = sources.flatMap(({ path, code }) => (code.match(/\bas unknown as\b/g) ?? []).map(() => path));
  assert.ok(
    found.length <= MOST_DOUBLE_CASTS,
    `${found.length}: let the type come from its schema\n${found.join("\n")}`,
  );
});

const forbidden: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["any", /[:<,|&(]\s*any\b(?!\s*:)|\bas any\b|\bany\[\]/],
  ["enum", /\benum\s+[A-Z]/],
  ["namespace", /\bnamespace\s+[A-Z]/],
  ["#private names", /\bthis\.#|^\s+#[a-z]/m],
  ["@ts-ignore", /@ts-(ignore|nocheck|expect-error)/],
  ["default exports", /\bexport default\b/],
];

for (const [what, pattern] of forbidden) {
  test(`no source uses ${what}`, () => {
    const users = sources.filter(({ code, text }) => pattern.test(what.startsWith("@") ? text : code));
    assert.deepEqual(
      users.map(({ path }) => path),
      [],
    );
  });
}

test("the patterns match what they forbid", () => {
  const samples = [
    "const a: any = 1;",
    "enum Kind { A }",
    "namespace N {}",
    "this.#x = 1",
    "// @ts-ignore",
    "export default 1",
  ];
  for (const [index, [what, pattern]] of forbidden.entries())
    assert.match(samples[index] as string, pattern, `${what} is not found`);
  for (const fine of ["const many: string", "/** any of them */ a: 1", "x(any)"].map((text) => withoutComments(text)))
    if (!fine.includes("(any")) assert.doesNotMatch(fine, forbidden[0]?.[1] as RegExp);
});

test("only index.ts passes on other files' exports", () => {
  const barrels = sources.filter(({ path, code }) => {
    if (path === "index.ts") return false;
    const declares = /^export (async )?(function|const|let|class|interface|type [A-Za-z]+\b(?!,| \}))/m.test(code);
    return /^export (\*|(type )?\{[^}]*\}) from /m.test(code) && !declares;
  });
  assert.deepEqual(
    barrels.map(({ path }) => path),
    [],
  );
  const named = sources.filter(({ path }) => path !== "index.ts" && path.endsWith("/index.ts"));
  assert.deepEqual(named, []);
});

test("names are kebab-case, and no folder is a drawer for leftovers", () => {
  const all = ["src", "test", "compile", "scenarios"].flatMap((folder) => {
    try {
      return filesBelow(join(ROOT, folder)).map((path) => relative(ROOT, path).replaceAll("\\", "/"));
    } catch {
      return [];
    }
  });
  const drawers = all.filter((path) => /(^|\/)(utils?|helpers?|common|misc|lib)\//.test(path));
  assert.deepEqual(drawers, []);
  const odd = sources
    .map(({ path }) => path)
    .filter((path) => !/^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(path));
  assert.deepEqual(odd, []);
});

/** A server sends responses. Answers are given to questions: of the wizard, and by a search. */
const ANSWERS =
  /\b(an|the|its|each|every|no|first|last|whole|complete) answers?\b|\b(?!answerO)[a-z]*Answer(?!ed|ing|s? =|s\b)[A-Z]\w+/;
const QUESTIONS =
  /^(wizard\/|cli\/init|load\/search\.ts|campaign\/sweep\.ts|cli\/genai-perf\/analyze\/run-analyze\.ts|report\/judge-run\.ts|report\/model\/search-answer\.ts)/;

test("what a server sends is a response, in names and in comments", () => {
  const found = sources
    .filter(({ path }) => !QUESTIONS.test(path))
    .flatMap(({ path, text }) => {
      const [match] = ANSWERS.exec(text) ?? [];
      return match === undefined ? [] : [`${path}: ${match}`];
    });
  assert.deepEqual(found, []);
  assert.ok(["waits for an answer", "readAnswerText"].every((text) => ANSWERS.test(text)));
  assert.ok(!["the server answered", "AnsweredRequest", "answerOfRuns"].some((text) => ANSWERS.test(text)));
});

/** Words that readers stumble over; see the style of the design. "So many that …" says something else than a number. */
const ODD_ENGLISH =
  /\b(told|goes on|go on|forgo(?:es|ne)?|gives? up|given up|(what|which) came of|what of|is none of|as the original has|so (many|long)\b(?![^.;:]*\bthat\b))\b/i;

/** What readers search: comments of a source, and the names of its tests. */
function readersText(text: string): string[] {
  const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  const comments = (text.match(tokens) ?? []).filter((token) => token.startsWith("/"));
  const names = [...text.matchAll(/\b(?:test|describe|it)\(\s*("[^"\n]*"|`[^`\n]*`)/g)].map(([, name = ""]) => name);
  return [...comments, ...names];
}

test("comments, and names of tests, say report, continue and cancel", () => {
  const tests = filesBelow(join(ROOT, "test")).filter((path) => path.endsWith(".test.ts"));
  const found = [
    ...sources.flatMap(({ path, text }) => readersText(text).map((part) => `${path}: ${part}`)),
    ...tests.flatMap((path) =>
      readersText(readFileSync(path, "utf8"))
        .filter((part) => !part.startsWith("/"))
        .map((part) => `${relative(ROOT, path)}: ${part}`),
    ),
  ].filter((part) => ODD_ENGLISH.test(part));
  assert.deepEqual(found, []);
  for (const odd of ["the run goes on", "failures are told", "so many requests, and no more"])
    assert.match(odd, ODD_ENGLISH);
  assert.doesNotMatch("so many requests end that the client decides", ODD_ENGLISH);
});

/** A sentence fragment where a reader expects a noun, or a verb for a function: "What a search has found." */
const FRAGMENT = /^(?:\/\*\*?|\/\/)[\s*]*(?:What|Those|That of|How (?:many|much|long|often))\b/;

test("comments begin with a noun or a verb", () => {
  const found = sources.flatMap(({ path, text }) =>
    readersText(text)
      .filter((part) => FRAGMENT.test(part))
      .map((part) => `${path}: ${part}`),
  );
  assert.deepEqual(found, []);
  for (const odd of ["/** What a search has found. */", "// Those of this thread.", "/**\n * How long it waits.\n */"])
    assert.match(odd, FRAGMENT);
  assert.doesNotMatch("/** Result of a search. */", FRAGMENT);
});

test("the top level has only allowed entries", () => {
  const unknown = readdirSync(ROOT).filter((name) => !name.startsWith(".") && !TOP_LEVEL.includes(name));
  assert.deepEqual(unknown, []);
});

/** What stands in strings and templates of a source: their text without what is put into templates. */
function textsOf(text: string): string[] {
  const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  return (text.match(tokens) ?? []).filter((token) => !token.startsWith("/")).map((token) => token.slice(1, -1));
}

/** Sentences of the product that stand in more than one test file. The number only goes down. */
const MOST_REPEATED_SENTENCES = 30;
const SENTENCE_WORDS = 5;

/** Returns the sentences, and parts of sentences between placeholders, that strings of a source have. */
function sentencesOf(text: string): string[] {
  return textsOf(text)
    .flatMap((string) => string.split(/\$\{[^}]*\}|\\n|(?<=[.;:!?]) /))
    .map((part) => part.trim().replace(/[.;:,]$/, ""))
    .filter((part) => part.split(/\s+/).filter((word) => /[a-z]{2}/i.test(word)).length >= SENTENCE_WORDS);
}

/** Returns what the strings and regular expressions of a test match, without escapes. */
function assertedIn(text: string): string {
  const expressions = [...withoutComments(text).matchAll(/\/((?:[^/\\\n]|\\.)+)\/[a-z]*[,;).]/g)].map(
    ([, source]) => source,
  );
  return [...textsOf(text), ...expressions].join("\n").replace(/\\(.)/g, "$1");
}

test(`${MOST_REPEATED_SENTENCES} sentences at most are asserted in more than one test file`, () => {
  const tests = filesBelow(join(ROOT, "test"))
    .filter((path) => path.endsWith(".ts"))
    .map((path) => [relative(ROOT, path), assertedIn(readFileSync(path, "utf8"))] as const);
  const byWord = new Map<string, Set<number>>();
  for (const [index, [, text]] of tests.entries())
    for (const word of new Set(text.split(/\s+/))) byWord.set(word, (byWord.get(word) ?? new Set()).add(index));
  const repeatedIn = (sentence: string): string[] => {
    // A word within the sentence is a word of the test too; its first and last one may be parts of words there.
    const inner = sentence.split(/\s+/).slice(1, -1);
    const [rarest = []] = inner.map((word) => [...(byWord.get(word) ?? [])]).sort((a, b) => a.length - b.length);
    return rarest.flatMap((index) => (tests[index]?.[1].includes(sentence) ? [tests[index][0]] : []));
  };
  const repeated = [...new Set(sources.flatMap(({ text }) => sentencesOf(text)))].flatMap((sentence) => {
    const [first, ...others] = repeatedIn(sentence);
    return others.length === 0 ? [] : [`${sentence}: ${[first, ...others].join(", ")}`];
  });
  const hint = "assert a code, a field or a number, or import what words it";
  assert.ok(repeated.length <= MOST_REPEATED_SENTENCES, `${repeated.length}: ${hint}\n${repeated.join("\n")}`);
  const source = ["f(`x $", "{y} must not be more than ten; see it`); g('too few words');"].join("");
  assert.deepEqual(sentencesOf(source), ["must not be more than ten"]);
  assert.match(assertedIn("assert.match(err, /^must be 1\\.5 or more$/);"), /must be 1.5 or more/);
});

/** Flags of other programs in hints: they are not Rampart's, whoever reads them. */
const FOREIGN_FLAGS = /ulimit -n|jq -c|run -A/g;

/** Flags of a command line that stand in a source's strings, long or of one letter. Custom properties of CSS look like them. */
function flagsIn(text: string): string[] {
  return textsOf(text).flatMap((string) => {
    const own = string.replace(FOREIGN_FLAGS, "").replace(/var\(--[a-z]+\)|--[a-z]+:/g, "");
    return own.match(/(?<![\w-])(--[a-z][\w-]*|-[a-zA-Z](?![\w-]))/g) ?? [];
  });
}

test("no source below the front doors names a flag: users of a scenario have none", () => {
  // The wizard is a front door too, and prints command lines.
  const named = sources
    .filter(({ path }) => path.includes("/") && !/^(cli|wizard)\//.test(path))
    .flatMap(({ path, text }) => flagsIn(text).map((flag) => `${path}: ${flag}`));
  assert.deepEqual(named, []);
  const sample =
    'f("Give --shape or -u."); // not --this\nconst t = `a --csv`; const css = "var(--x)"; g("a - b, x-y, -1");';
  assert.deepEqual(flagsIn(sample), ["--shape", "-u", "--csv"]);
});

test("sentences that name a setting are in plan/messages.ts; elsewhere such a text is data, not a string with marks", () => {
  const marks = /\bsetting\(|\{setting:/;
  assert.deepEqual(
    sources.filter(({ text }) => marks.test(text)).map(({ path }) => path),
    [],
  );
  assert.match('"Raise {setting:target.url}."', marks);
});

/** Reports an end of the process that no entry asked for, and replaces its exit code. */
const EXIT_GUARD = "runtime/process-end/exit-guard.ts";

test("only the entries set an exit code", () => {
  const allowed = [...ENTRIES, EXIT_GUARD];
  const setters = sources.filter(({ path, code }) => !allowed.includes(path) && /\bprocess\.exit(Code)?\b/.test(code));
  assert.deepEqual(
    setters.map(({ path }) => path),
    [],
  );
});

test("nothing committed names a place on the machine it was written on", () => {
  const own = relative(ROOT, fileURLToPath(import.meta.url)).replaceAll("\\", "/");
  const bad = ["src", "test", "compile", "scenarios"].flatMap((folder) => {
    let files: string[];
    try {
      files = filesBelow(join(ROOT, folder));
    } catch {
      return [];
    }
    return files
      .filter((path) => /\.(ts|mjs|json|md|py|go|pbtxt)$/.test(path) && relative(ROOT, path) !== own)
      .filter((path) => /\/(work|home|Users)\/[a-z]+\//.test(readFileSync(path, "utf8")))
      .map((path) => relative(ROOT, path));
  });
  assert.deepEqual(bad, []);
});

/** Conversions of units by a bare factor, which read the same whether they are right or wrong. */
const BARE_CONVERSION =
  /(?<!\*)[*/] (?:1e[369]|1_000_000(?:_000)?)n?\b|(?:Ns|Us|Ms|Sec|[sS]econds)\)* [*/] (?:1000|1_000)\b|\b(?:(?:NS|US|MS|SEC)_(?:PER|TO)_(?:NS|US|MS|SEC)|SECOND_NS) = \d/;

test("units are converted with the functions of plan/units.ts", () => {
  // runtime/ is below plan/, so it cannot import them.
  const found = sources
    .filter(({ path }) => path !== "plan/units.ts" && !path.startsWith("runtime/"))
    .flatMap(({ path, text }) =>
      withoutComments(text)
        .split("\n")
        .filter((line) => BARE_CONVERSION.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
  assert.deepEqual(found, []);
});

test("bare conversions are found in all their forms", () => {
  for (const code of [
    "waitNs / 1e6",
    "sec * 1e9",
    "limitMs / 1000",
    "(endNs - startNs) / 1000",
    "x * 1_000_000",
    "const NS_PER_US = 1000;",
    "t / 1_000_000n",
  ])
    assert.ok(BARE_CONVERSION.test(code), code);
  for (const code of ["nsToMs(waitNs)", "kHz * 1000", "2 ** 1e3", "rate * 1e-9"])
    assert.ok(!BARE_CONVERSION.test(code), code);
});

/** Parts in which each folder, a module, has tests that reach all its files. */
const TESTED = ["load", "measure", "run", "tokenize"];

/** Whether the file holds types only, so that there is nothing to run. */
function isTypesOnly({ code }: Source): boolean {
  return !/^export (async )?(abstract )?(function|const|class|let)\b/m.test(code);
}

/** Returns the sources that a test imports, and those that what it shares with other tests does. @param visited grows by the files of tests */
function testedBy(path: string, visited: Set<string>): string[] {
  // Texts that a test writes to files have imports too.
  if (visited.has(path) || !existsSync(path)) return [];
  visited.add(path);
  return readSource("", readFileSync(path, "utf8")).imports.flatMap((specifier) => {
    if (!specifier.startsWith(".")) return [];
    const to = join(dirname(path), specifier);
    const source = relative(SRC, to).replaceAll("\\", "/");
    return source.startsWith("..") ? testedBy(to, visited) : [source];
  });
}

/** A folder is a module: returns its files that the tests at the same place below test/ do not reach over sources of the same part. */
function untestedIn(folder: string): string[] {
  const [part] = folder.split("/");
  const place = join(ROOT, "test", folder);
  const tests = existsSync(place) ? readdirSync(place).filter((name) => name.endsWith(".test.ts")) : [];
  const visited = new Set<string>();
  const reached = new Set(tests.flatMap((name) => testedBy(join(place, name), visited)));
  // The loop also visits what it adds.
  for (const path of reached)
    for (const specifier of sources.find((file) => file.path === path)?.imports ?? []) {
      const to = resolveImport(path, specifier);
      if (to.startsWith(`${part}/`)) reached.add(to);
    }
  return sources
    .filter((file) => dirname(file.path) === folder && !isTypesOnly(file) && !reached.has(file.path))
    .map(({ path }) => path);
}

test(`each file of ${TESTED.join("/, ")}/ is tested by its module`, () => {
  const folders = new Set(sources.map(({ path }) => dirname(path)));
  const tested = [...folders].filter((folder) => TESTED.includes(folder.split("/")[0] as string));
  assert.deepEqual(tested.flatMap(untestedIn), []);
});

/** They read the program's own parts, what it wrote, the system, or a user's module in place of the runtime. */
const OWN_READERS = [
  "runtime/",
  "cli/doctor/host.ts",
  "cli/help/guides.ts",
  "cli/types/declarations.ts",
  "report/output-file.ts",
  "report/plots/chart-library.ts",
  "run/fleet/request-journal.ts",
  "scenario/hooks/process-group.ts",
  "scenario/load-module.ts",
  "transport/shared-memory/",
];

test("files that a user names are read by the functions of runtime/files.ts, which have limits, and YAML by one function", () => {
  const READERS = /\b(?:readFileSync|readFile|createReadStream|openSync)\b/;
  const fromFs = sources.filter(
    ({ text, imports }) =>
      [...text.matchAll(/import \{([^}]*)\} from "node:fs(?:\/promises)?"/g)].some(([, names = ""]) =>
        READERS.test(names),
      ) ||
      (imports.some((name) => name.endsWith("runtime/files.ts")) &&
        /fileSystem\(\)(?:\.promises)?\.(?:readFile|openSync|open\b)/.test(text)),
  );
  const others = fromFs.map(({ path }) => path).filter((path) => !OWN_READERS.some((own) => path.startsWith(own)));
  assert.deepEqual(others, []);
  const parsers = sources.filter(({ text }) =>
    /\bparse(?:All)?Documents?\b[^;]*from "yaml"|\bYAML\.parse\b/.test(text),
  );
  assert.deepEqual(
    parsers.map(({ path }) => path),
    ["plan/document/read-yaml.ts"],
  );
});
