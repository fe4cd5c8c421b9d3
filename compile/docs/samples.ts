import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_MOCK, type MockPlan } from "../../src/plan/mock.ts";
import { EXIT } from "../../src/result/exit-codes.ts";
import { commandsOf, readBlocks } from "../../test/guides/blocks.ts";
import { type GuideServer, makeGuideFolder } from "../../test/guides/guide-folder.ts";

/**
 * Samples of output in the guides. From a comment `<!-- output -->` to the next `<!-- end -->` stands what the block of commands before it
 * printed last. `<!-- output | FILTER -->` shows a part of it, and `<!-- output on a terminal -->` what a terminal showed during the command.
 */

const root = join(import.meta.dirname, "..", "..");

/** What `rampart mock --latency 2ms --ttft 20ms --itl 2ms` serves, which the guides start in another terminal. */
export const GUIDE_MOCK: MockPlan = {
  ...DEFAULT_MOCK,
  latency: { kind: "constant", ms: 2 },
  llm: { ...DEFAULT_MOCK.llm, firstToken: { kind: "constant", ms: 20 }, tokenGapMs: 2 },
};

/** A sample. */
export interface Sample {
  /** The guide, from the repository's root. */
  readonly guide: string;
  /** The command that prints it, as it is shown. */
  readonly command: string;
  /** What is run: the commands before it in its block, and the command with the sample's filter. */
  readonly commands: readonly string[];
  /** Whether the last one runs on a terminal, and the sample is one of the states that it drew there. */
  readonly isLive: boolean;
  /** What the guide shows now. */
  readonly shown: string;
}

const PART = /(?<=^<!-- output( on a terminal)?(?: \| (.+))? -->\n+)(?:```text\n([\s\S]*?)^```\n+)?(?=<!-- end -->$)/gm;

/** Returns the samples of a guide, in their order. */
export function listSamples(guide: string): Sample[] {
  const text = readFileSync(join(root, guide), "utf8");
  return Array.from(text.matchAll(PART), ({ index, 1: live, 2: filter, 3: shown = "" }) => {
    const block = readBlocks(text.slice(0, index)).findLast(({ language }) => language === "sh");
    if (block === undefined) throw new Error(`${guide}: there are no commands before the output`);
    const commands = commandsOf(block);
    const command = commands.at(-1) as string;
    const last = [command, ...(filter === undefined ? [] : [filter])].join(" | ");
    const run = live === undefined ? last : `script -qec "stty rows 40 cols 80; ${last}" /dev/null`;
    return { guide, command, commands: [...commands.slice(0, -1), run], isLive: live !== undefined, shown };
  });
}

/**
 * Runs the commands of a sample. Returns what the last one printed, with the addresses that the guides show. Throws when one was wrong.
 * @param useFiles called with the folder in which the commands wrote files
 */
export async function runSample(
  { guide, commands, isLive }: Sample,
  server: GuideServer,
  useFiles?: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = makeGuideFolder(guide, server);
  try {
    let printed = "";
    for (const command of commands) {
      const { code, out, err } = await folder.run(command);
      // A busy machine may leave assertions unresolved.
      const isMeasured = [EXIT.passed, EXIT.assertionFailed, EXIT.unstable].some((expected) => expected === code);
      if (!isMeasured) throw new Error(`${guide}: ${command}\nexit code ${code}\n${out}${err}`);
      printed = isLive ? findState(out) : out;
    }
    await useFiles?.(folder.path);
    return `${server
      .withShownAddresses(printed)
      .replaceAll(/ +$/gm, "")
      .replaceAll(/^\n+|\n+$/g, "")}\n`;
  } finally {
    folder.remove();
  }
}

/** Returns a state that was drawn after most of the time. */
function findState(out: string): string {
  // Each begins where the cursor goes up to the first line.
  const states = out.split(/\u001b\[\d+A/).filter((text) => text.includes("progress"));
  const state = states[Math.floor(states.length * 0.6)] ?? "";
  const text = state.replace(/\u001b\[J[\s\S]*/, "");
  return text.replaceAll(/\u001b\[[\d;?]*[A-Za-z]|\r/g, "");
}

/** Returns the text of a guide with the outputs of its samples, in their order. */
export function replaceSamples(text: string, outputs: readonly string[]): string {
  let next = 0;
  return text.replaceAll(PART, () => `\`\`\`text\n${outputs[next++]}\`\`\`\n\n`);
}
