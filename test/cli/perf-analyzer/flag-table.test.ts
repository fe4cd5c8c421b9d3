import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FLAG_HELP } from "../../../src/cli/perf-analyzer/flag-help.ts";
import { FLAG_READERS } from "../../../src/cli/perf-analyzer/flag-readers.ts";
import { allFlags, type FlagSpec, flagName, laterFlags, OBEYED_FLAGS } from "../../../src/cli/perf-analyzer/flags.ts";
import { formatHelp } from "../../../src/cli/perf-analyzer/help.ts";
import { RARE_FLAG_READERS } from "../../../src/cli/perf-analyzer/rare-flag-readers.ts";
import { LATER, OBEYED, PERF_ANALYZER_FLAGS, PERF_ANALYZER_SWITCHES } from "./flag-table.ts";

const FLAGS = allFlags();

/** The source of the test with a name; undefined when the file has none. */
function testSource(effect: string, name: string): string | undefined {
  const text = readFileSync(new URL(`./effects-${effect}.test.ts`, import.meta.url), "utf8");
  const compact = text.replace(/\btest\(\s+/g, "test(");
  const start = compact.indexOf(`\ntest(${JSON.stringify(name)},`);
  if (start < 0) return undefined;
  const end = compact.indexOf("\ntest(", start + 1);
  return compact.slice(start + name.length, end < 0 ? undefined : end);
}

function namesOf({ name, short }: FlagSpec): string[] {
  return [...(name === "" ? [] : [`--${name}`]), ...(short === undefined ? [] : [`-${short}`])];
}

test("every flag has exactly one row, and every row a flag", () => {
  const rows = [...OBEYED, ...LATER].map(({ flag }) => flag);
  assert.deepEqual([...rows].sort(), FLAGS.map(flagName).sort());
  assert.equal(new Set(rows).size, rows.length);
});

test("every row names a test that exists and uses the flag", () => {
  const missing = OBEYED.filter(({ flag, effect, test: name, typed = flag }) => {
    const source = testSource(effect, name);
    return source === undefined || !source.includes(`"${typed}"`);
  });
  // -m and -u stand in the arguments that their tests share with others.
  assert.deepEqual(missing, []);
});

test("flags that can not be obeyed are those for later, with the same accepted values", () => {
  const later = laterFlags();
  assert.deepEqual(
    later.map((flag) => [flagName(flag), [...(flag.onlyValues ?? [])]]),
    LATER.map(({ flag, accepted }) => [flag, [...accepted]]),
  );
  for (const [index, { flag, refused }] of LATER.entries()) {
    assert.equal(later[index]?.value === undefined, refused === undefined, `${flag}: a switch or not`);
  }
});

test("the table knows every flag of perf_analyzer and adds none but Rampart's own", () => {
  const known = FLAGS.filter(({ isOwn }) => isOwn !== true).flatMap(namesOf);
  assert.deepEqual(known.sort(), [...PERF_ANALYZER_FLAGS].sort());
  const own = FLAGS.filter(({ isOwn }) => isOwn === true).flatMap(namesOf);
  for (const name of own) assert.ok(!PERF_ANALYZER_FLAGS.includes(name), `${name} is perf_analyzer's already`);
  for (const flag of OBEYED_FLAGS)
    assert.equal(FLAG_HELP[flagName(flag)]?.group === "rampart", flag.isOwn === true, flagName(flag));
});

test("switches are the flags that take no value in perf_analyzer", () => {
  const switches = FLAGS.filter(({ value, isOwn }) => value === undefined && isOwn !== true).flatMap(namesOf);
  assert.deepEqual(switches.sort(), [...PERF_ANALYZER_SWITCHES].sort());
});

test("no name stands for two flags", () => {
  const names = FLAGS.flatMap(namesOf);
  assert.equal(new Set(names).size, names.length);
});

test("no flag is ignored: each has a reader or is refused", () => {
  const obeyed = OBEYED_FLAGS.map(flagName);
  assert.deepEqual([...Object.keys(FLAG_READERS), ...Object.keys(RARE_FLAG_READERS)].sort(), obeyed.sort());
  assert.ok(OBEYED_FLAGS.every(({ onlyValues }) => onlyValues === undefined));
  assert.ok(laterFlags().every(({ onlyValues }) => onlyValues !== undefined));
});

test("help names every flag, with its short name, unit and default", () => {
  const help = formatHelp("x");
  const flat = help.replace(/\s+/g, " ");
  for (const flag of FLAGS) {
    for (const name of flag.onlyValues !== undefined ? [flagName(flag)] : namesOf(flag))
      assert.match(flat, new RegExp(` ${name}[ ,]`), `${name} is not in the help`);
  }
  assert.deepEqual(Object.keys(FLAG_HELP).sort(), OBEYED_FLAGS.map(flagName).sort());
  for (const [name, said] of Object.entries(FLAG_HELP)) {
    if (said.default !== undefined) assert.ok(flat.includes(`Default: ${said.default}.`), name);
    if (said.unit !== undefined) assert.ok(flat.includes(`In ${said.unit}.`), name);
  }
  const tooLong = help.split("\n").filter((line) => line.length > 125 && !line.includes("-u gpu-host"));
  assert.deepEqual(tooLong, []);
});
