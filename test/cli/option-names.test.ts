import assert from "node:assert/strict";
import { test } from "node:test";
import { FLAGS as AGENT } from "../../src/cli/agent.ts";
import { FLAGS as CHAT } from "../../src/cli/chat/command.ts";
import { FLAGS as COMPARE } from "../../src/cli/compare/command.ts";
import { FLAGS as DOCTOR } from "../../src/cli/doctor/command.ts";
import { type Flag, parseFlags } from "../../src/cli/flags.ts";
import { ALL_OPTIONS } from "../../src/cli/genai-perf/options/subcommands.ts";
import { FLAGS as HTTP } from "../../src/cli/http/command.ts";
import { FLAGS as INIT } from "../../src/cli/init.ts";
import { FLAGS as MANIFEST } from "../../src/cli/k8s/manifest.ts";
import { FLAGS as MOCK } from "../../src/cli/mock.ts";
import { sharedNameOf } from "../../src/cli/options/shared-options.ts";
import { OPTIONS } from "../../src/cli/perf-analyzer/options/table.ts";
import { FLAGS as REPORT } from "../../src/cli/report.ts";
import { FLAGS as RUN } from "../../src/cli/run.ts";
import { FLAGS as SCHEMA } from "../../src/cli/schema.ts";
import { FLAGS as TYPES } from "../../src/cli/types/command.ts";

/** One option has one name, one letter and one notation on all of Rampart's commands, and Rampart's options in the compatible modes. */

const COMMANDS: Readonly<Record<string, readonly Flag[]>> = {
  ...{ run: RUN, http: HTTP, chat: CHAT, mock: MOCK, compare: COMPARE, doctor: DOCTOR, init: INIT, report: REPORT },
  ...{ schema: SCHEMA, types: TYPES, agent: AGENT, "k8s manifest": MANIFEST },
};
test("all commands name the option for the rest of a report by its letter", () => {
  for (const door of ["run", "http", "llm", "triton", "report", "compare"] as const)
    assert.equal(sharedNameOf(door, "outputs.verbosity"), "-v", door);
});

const ALL = Object.entries(COMMANDS).flatMap(([command, flags]) => flags.map((flag) => ({ command, ...flag })));

test("an option of several commands has the same letter, placeholder and other names on all of them", () => {
  for (const { command, name, short, value, meant } of ALL)
    for (const other of ALL.filter((one) => one.name === name)) {
      assert.equal(short, other.short, `--${name} of ${command} and ${other.command}`);
      assert.equal(value, other.value, `--${name} of ${command} and ${other.command}`);
      if (name !== "verbose") assert.deepEqual(meant, other.meant, `--${name} of ${command} and ${other.command}`);
    }
});

test("a letter is one option", () => {
  for (const { command, name, short } of ALL)
    for (const other of ALL.filter((one) => short !== undefined && one.short === short))
      assert.equal(name, other.name, `-${short} of ${command} and ${other.command}`);
});

test("a name that others give an option is unknown, and the error suggests its own", () => {
  for (const [command, flags] of Object.entries(COMMANDS))
    for (const { name, short, meant = [] } of flags)
      for (const other of meant) {
        const letter = short === undefined || other.startsWith("--") ? "" : `-${short} or `;
        // A switch of this command: what others give it a value for.
        const own = flags.find((flag) => `-${flag.short}` === other);
        if (own?.value !== undefined) continue;
        const isSwitch = own !== undefined;
        const { problems } = parseFlags(flags, isSwitch ? [other, "5"] : [other], 0);
        const said = problems.map(({ path, hint }) => `${path}: ${hint}`);
        if (isSwitch) {
          assert.deepEqual(said, [`5: Did you mean -${short} 5?`], `${command} ${other}`);
          continue;
        }
        assert.deepEqual(said, [`${other}: Did you mean ${letter}--${name}?`], `${command} ${other}`);
      }
});

test("Rampart's options in the compatible modes are those of its commands, with the same notation", () => {
  const rampart = [...OPTIONS, ...ALL_OPTIONS].filter(({ isRampart }) => isRampart === true);
  for (const { names = [], value, meant } of rampart)
    for (const name of names.filter((one) => one.startsWith("--") && one !== "--help"))
      for (const same of ALL.filter((one) => `--${one.name}` === name)) {
        if (same.choices === undefined) assert.equal(value, same.value, `${name} and ${same.command}`);
        if (meant !== undefined) assert.deepEqual(meant, same.meant, `${name} and ${same.command}`);
      }
  const others = ALL.flatMap(({ meant = [] }) => meant);
  const bad = rampart.flatMap(({ names = [] }) => names.filter((name) => others.includes(name)));
  assert.deepEqual(bad, []);
});
