import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { flagsOf } from "../../../src/cli/genai-perf/options/subcommands.ts";
import { OPTIONS } from "../../../src/cli/perf-analyzer/options/table.ts";
import { FLAGS as RUN_FLAGS } from "../../../src/cli/run.ts";
import { runDoor } from "../../fuzz/command.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { installTool } from "../../servers/install-tool.ts";

/** `rampart completion`: the scripts in real shells. */

/** What a shell offers for a line, of which the last word is being typed. */
type Complete = (words: readonly string[]) => string[];

const folder = makeFolder();
before(() => {
  mkdirSync(join(folder, "load"));
  for (const name of ["scenario.ts", "sizes.json"]) writeFileSync(join(folder, "load", name), "");
});

async function writeScript(shell: string): Promise<string> {
  const { code, out, err } = await runDoor(["completion", shell]);
  assert.equal(code, 0, err);
  return writeIn(folder, `rampart.${shell}`, out);
}

function run(program: string, args: readonly string[]): string[] {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: folder, encoding: "utf8" });
  assert.equal(error, undefined);
  assert.equal(stderr, "");
  assert.equal(status, 0);
  return stdout.split("\n").filter((line) => line !== "");
}

/** Bash as it calls a completion function. */
function completeBash(script: string): Complete {
  const call = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rampart; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return (words) => run("bash", ["--norc", "-c", call, "bash", script, ...words]);
}

/** Zsh's completion system needs a terminal; its functions are replaced by ones that print what is offered. */
function completeZsh(script: string): Complete {
  const call = `
    compset() { }
    compadd() { shift; print -l -- "$@" }
    _files() { [[ $1 == -/ ]] && print -l -- \${words[CURRENT]}*(/N:s/%/\\//) || print -l -- \${words[CURRENT]}*(N) }
    _describe() { local name=\${@[-1]}; print -l -- \${\${(P)name}%%:*} }
    source $1; shift; words=("$@"); CURRENT=$#; _rampart`;
  return (words) => {
    const last = words.at(-1) ?? "";
    return run("zsh", ["-f", "-c", call, "zsh", script, ...words]).filter((word) => word.startsWith(last));
  };
}

function completeFish(script: string): Complete {
  return (words) => {
    const lines = run("fish", ["--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script, words.join(" ")]);
    return lines.map((line) => line.split("\t")[0] as string);
  };
}

const SHELLS: readonly (readonly [shell: string, make: (script: string) => Complete])[] = [
  ["bash", completeBash],
  ["zsh", completeZsh],
  ["fish", completeFish],
];

/** Lines, of which the last word is being typed, and everything that is offered for it. */
const LINES: readonly (readonly [name: string, words: readonly string[], offered: readonly string[]])[] = [
  ["commands", ["rampart", "perf"], ["perf_analyzer"]],
  ["options of a command", ["rampart", "run", "--st"], ["--stall-timeout"]],
  ["choices of an option", ["rampart", "run", "--client", ""], ["grpc-js", "own", "undici"]],
  ["nothing for a number", ["rampart", "mock", "--http-port", ""], []],
  ["topics", ["rampart", "help", "measu"], ["measuring"]],
  ["shells", ["rampart", "completion", ""], ["bash", "fish", "zsh"]],
  ["options after a value", ["rampart", "run", "--url", "host:8000", "load/scenario.ts", "--dr"], ["--dry-run"]],
  ["options of perf_analyzer mode", ["rampart", "perf_analyzer", "--request-rate-r"], ["--request-rate-range"]],
  ["choices of perf_analyzer mode", ["rampart", "perf_analyzer", "-i", "g"], ["grpc"]],
  ["the executable linked as perf_analyzer", ["perf_analyzer", "--concurrency-r"], ["--concurrency-range"]],
  ["subcommands of genai-perf mode", ["rampart", "genai-perf", "pro"], ["process-export-files", "profile"]],
  ["the executable linked as genai-perf", ["genai-perf", "profile", "--endpoint-t"], ["--endpoint-type"]],
  ["options of one subcommand only", ["genai-perf", "profile", "--sweep-t"], []],
  ["options of another subcommand", ["genai-perf", "analyze", "--sweep-t"], ["--sweep-type"]],
  ["subcommands of k8s", ["rampart", "k8s", "m"], ["manifest"]],
  ["files as operand of a subcommand", ["rampart", "k8s", "manifest", "load/sc"], ["load/scenario.ts"]],
  ["files as operand", ["rampart", "run", "load/sc"], ["load/scenario.ts"]],
  ["files as value", ["rampart", "run", "--json", "load/si"], ["load/sizes.json"]],
];

/** Every option of some commands. */
const ALL: readonly (readonly [words: readonly string[], options: readonly string[]])[] = [
  [["rampart", "run", "--"], RUN_FLAGS.map(({ name }) => `--${name}`)],
  [["perf_analyzer", "--"], OPTIONS.flatMap(({ names }) => names).filter((name) => name.startsWith("--"))],
  [
    ["genai-perf", "profile", "--"],
    ["--help", ...flagsOf("profile").flatMap(({ names }) => names)].filter((name) => name.startsWith("--")),
  ],
];

for (const [shell, make] of SHELLS)
  describe(shell, () => {
    let complete: Complete;
    before(async () => {
      installTool(shell);
      complete = make(await writeScript(shell));
    });

    for (const [name, words, offered] of LINES)
      test(`completes ${name}: ${words.join(" ")}`, () => {
        assert.deepEqual([...new Set(complete(words))].sort(), offered.toSorted());
      });

    test("completes every command", () => {
      const names = [...COMMANDS.map(({ name }) => name), "help", "version"];
      assert.deepEqual(complete(["rampart", ""]).sort(), names.sort());
    });

    test("completes every option of a command", () => {
      for (const [words, options] of ALL)
        assert.deepEqual([...new Set(complete(words))].sort(), [...new Set(options)].sort(), words.join(" "));
    });
  });

test("bash completes the value after an equals sign, which is a word of its own there", async () => {
  const complete = completeBash(await writeScript("bash"));
  assert.deepEqual(complete(["rampart", "run", "--client", "=", "u"]), ["undici"]);
  assert.deepEqual(complete(["rampart", "run", "--client", "="]).sort(), ["grpc-js", "own", "undici"]);
});

test("another shell, or none, is refused with the shells that there are", async () => {
  for (const args of [["tcsh"], []]) {
    const { code, err } = await runDoor(["completion", ...args]);
    assert.equal(code, 64);
    assert.match(err, /Give one of bash, zsh, fish\./);
  }
});
