import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inFolder, type ProcessResult, runRampart } from "../cli/rampart-process.ts";
import { type AnsweringServer, startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";

/** Code of scenarios that does what it must not: an error that names the field or the change, never an internal error, and no run that dies of it. */

const IMPORT = 'import { defineScenario, defineTarget, embedded, input, hold, http, triton } from "rampart";\n';
const GOOD = 'export default defineScenario({ name: "x", target: embedded(), load: hold(1, { requests: 3 }) });\n';
const scenario = (fields: string): string =>
  `export default defineScenario({ name: "x", load: hold(1, { requests: 3 }), ${fields} } as any);\n`;
const own = (fields: string): string =>
  `const make = defineTarget({ name: "own", encode: () => ({ path: "/" }), ...{ ${fields} } } as any);\n` +
  'export default defineScenario({ name: "x", load: hold(1, { requests: 3 }), target: make("URL", { inputs: [1] }) });\n';
const THROWS = 'get x() { throw new Error("boom"); }';
const CYCLE = "(() => { const a: any = {}; a.b = { a }; return a; })()";

async function run(text: string): Promise<ProcessResult> {
  let server: AnsweringServer | undefined;
  try {
    server = await startAnsweringServer((response) => response.end('{"value": 5}'));
    const files = { "x.ts": IMPORT + text.replace("URL", server.url) };
    return await inFolder(files, (cwd) => runRampart(["run", "x.ts"], { cwd }));
  } finally {
    server?.close();
  }
}

const INTERNAL = /internal error|\$bunfs|^\s+at \S+ \(/m;

const REFUSED: readonly (readonly [name: string, text: string, said: RegExp])[] = [
  [
    "a field that throws",
    `export default defineScenario({ name: "x", target: embedded(), get load(): any { throw new Error("boom"); } });`,
    /load: reading it throws: boom/,
  ],
  [
    "a proxy",
    'export default defineScenario(new Proxy({}, { ownKeys() { throw new Error("boom"); } }) as any);',
    /the scenario: reading it throws: boom/,
  ],
  [
    "an option that throws",
    scenario(`target: triton("localhost:1", { ${THROWS} } as any)`),
    /target.options: reading it throws: boom/,
  ],
  [
    "a body with a bigint",
    scenario('target: http("URL"), inputs: input.generate(() => ({ body: { user: { id: 1n } } }))'),
    /^rampart: x\.ts:2:\d+, inputs, generate\(…\), input 0: returns a value that cannot be read: body.user.id is a bigint/m,
  ],
  [
    "a body that contains itself",
    scenario(`target: http("URL"), inputs: input.generate(() => ({ body: ${CYCLE} }))`),
    /input 0: .*: body.b.a contains itself/,
  ],
  [
    "a body that throws",
    scenario(`target: http("URL"), inputs: input.generate(() => ({ body: { ${THROWS} } }))`),
    /input 0: .*: reading body.x throws: boom/,
  ],
  [
    "an input that throws",
    scenario('target: http("URL"), inputs: input.generate(() => ({ get body() { throw new Error("boom"); } }))'),
    /input 0: .*: reading body throws: boom/,
  ],
  [
    "tensors that throw",
    scenario(`target: embedded(), inputs: input.generate(() => ({ tensors: { ${THROWS} } }))`),
    /input 0: .*: reading tensors.x throws: boom/,
  ],
  [
    "tags that throw",
    scenario(`target: http("URL"), inputs: input.generate(() => ({ body: {}, tags: { ${THROWS} } }))`),
    /input 0: .*: reading tags.x throws: boom/,
  ],
  [
    "a function of tags that returns none",
    scenario("target: embedded(), tags: () => ({ a: { b: 1 } })"),
    /^rampart: x\.ts:2:\d+, tags, input 0: must return texts.*\(got \{"a":\{"b":1\}\}\)\. Return \{ length: "long" \}\.$/m,
  ],
  [
    "an own request with a bigint",
    own("encode: () => ({ path: '/', body: { id: 1n } })"),
    /target.encode, input 0: .*: body.id is a bigint/,
  ],
  [
    "an own request that throws",
    own('encode: () => ({ get path() { throw new Error("boom"); } })'),
    /target.encode, input 0: .*: reading path throws: boom/,
  ],
  [
    "a request that throws",
    scenario('target: http("URL", { request: () => ({ get body() { throw new Error("boom"); } }) })'),
    /request 0: .*: reading body throws: boom/,
  ],
  [
    "a property of every object",
    `(Object.prototype as any).polluted = 1;\n${GOOD}`,
    /x.ts: changes Object.prototype.polluted, which Rampart needs/,
  ],
  [
    "a getter of every object",
    `Object.defineProperty(Object.prototype, "kind", { get() { throw new Error("boom"); } , configurable: true });\n${GOOD}`,
    /changes Object.prototype.kind/,
  ],
  ["a method that is gone", `(Array.prototype as any).map = undefined;\n${GOOD}`, /changes Array.prototype.map/],
  [
    "a global that is gone",
    `(globalThis as any).JSON = undefined; (globalThis as any).Map = undefined;\n${GOOD}`,
    /changes Map, JSON|changes JSON, Map/,
  ],
  ["errors that are gone", `(globalThis as any).Error = undefined;\n${GOOD}`, /changes Error/],
  [
    "a function that throws now",
    `JSON.stringify = () => { throw new Error("boom"); };\n${GOOD}`,
    /x.ts:2:\d+: throws while it runs: boom/,
  ],
  [
    "an error that cannot be read",
    `class E extends Error { get message(): any { throw new Error("no"); } get stack(): any { throw new Error("no"); } }\nthrow new E();\n${GOOD}`,
    /does not load: an error that cannot be read/,
  ],
  [
    "a command that fails",
    scenario("target: embedded(), setup: async ({ $ }: any) => { await $`echo why >&2; exit 3`; }"),
    /setup fails: a command ended with exit code 3: why\./,
  ],
  [
    "a command that is not there",
    scenario("target: embedded(), setup: async ({ $ }: any) => { await $`nosuchcommand --x`; }"),
    /setup fails: a command ended with exit code 127: .*not found/,
  ],
];

describe("odd code is refused", () => {
  for (const [name, text, said] of REFUSED)
    test(name, LIMIT, async () => {
      const { code, out, err } = await run(text);
      assert.match(err, said);
      assert.doesNotMatch(out + err, INTERNAL);
      assert.equal(code, 64);
    });
});

/** What `extract` may return, and how it counts. */
const EXTRACTED: readonly (readonly [name: string, value: string, said: RegExp])[] = [
  ["a bigint", "5n", /value +5 +5\* .* 5$/m],
  ["a bigint that is no number", "2n ** 80n", /1208925819614629174706176/],
  ["a cycle", CYCLE, /extract.value of own throws: it returned a value that is not JSON: b.a contains itself/],
  ["a list with a bigint", "[[1n]]", /it returned a value that is not JSON: 0.0 is a bigint/],
  ["an object that throws", `({ ${THROWS} })`, /it returned a value that is not JSON: reading x throws: boom/],
  ["a function", "() => 1", /=>\s*1/],
];

describe("odd values of extract are counted, or fail their request", () => {
  for (const [name, value, said] of EXTRACTED)
    test(name, LIMIT, async () => {
      const { out, err, code } = await run(own(`extract: { value: () => ${value} }`));
      // A report wraps texts, or keeps them in one row.
      assert.match(`${out}${err}${out.replace(/\s+/g, " ")}`, said);
      assert.doesNotMatch(out + err, INTERNAL);
      assert.ok([0, 66, 69].includes(code ?? -1), `${code}`);
      assert.match(out, /x: own/);
    });
});
