import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { formatThreeDigits } from "../../../src/report/model/values.ts";
import type { Stub } from "../../servers/stub.ts";
import { type Client, executableName, type Load, type Pace } from "../clients.ts";
import { type Goal, judgeGoal, renderTable } from "../goals.ts";
import { type CountingPrograms, findCounter, type InstructionCounter } from "./counter.ts";

/** Instructions of a request in the steady state, of each tool. */

const CASES: readonly (readonly [title: string, load: Load])[] = [
  ["HTTP, 16 concurrent", { way: "http", concurrency: 16 }],
  ["gRPC, 16 concurrent", { way: "grpc", concurrency: 16 }],
  ["gRPC streams, 16 concurrent", { way: "stream", concurrency: 16 }],
];

/** Requests after which code that is compiled as it runs is compiled, and the longest wait for them. */
const WARM_UP_REQUESTS = 200_000;
const WARM_UP_MS = 60_000;
const LOOK_MS = 500;
const COUNTED_MS = 15_000;
/** Longer than all of that. */
const PACE: Pace = { windowMs: 600_000, durationS: 600 };

/** Heads the table; `--only` compares with it as with a case's title. */
export const instructionsTitle = "instructions per request";

/** What was counted. */
export interface InstructionFigures {
  readonly report: string;
  readonly goals: readonly Goal[];
}

/** What was counted, by case and by name of the tool. */
type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Counts the instructions of each tool in each case. Where nothing can count them, the report says why. */
export async function measureInstructions(
  clientsOf: (load: Load) => readonly Client[],
  stub: Stub,
  programs?: CountingPrograms,
): Promise<InstructionFigures> {
  const counter = await findCounter(programs);
  if ("reason" in counter) {
    const why = `not countable here: ${counter.reason}`;
    return { report: `Instructions are ${why}.`, goals: goalsOf(new Map(), why) };
  }
  const counts = new Map<string, Map<string, number>>();
  const uncounted = new Map<string, string>();
  try {
    for (const [title, load] of CASES)
      for (const client of clientsOf(load)) {
        try {
          const perRequest = await countOne(counter, client, load, stub);
          console.error(`${instructionsTitle}  ${title}  ${client.name}: ${perRequest.toFixed(0)}`);
          counts.set(title, (counts.get(title) ?? new Map<string, number>()).set(client.name, perRequest));
        } catch (error) {
          uncounted.set(client.name, error instanceof Error ? error.message : String(error));
        }
      }
  } finally {
    counter.close();
  }
  return { report: renderCounts(counter.name, counts, uncounted), goals: goalsOf(counts) };
}

/** They are only stated. @param why none was counted */
function goalsOf(counts: Counts, why = ""): readonly Goal[] {
  return CASES.map(([title]) => {
    const tools = counts.get(title) ?? new Map<string, number>();
    const peers = [...tools].map(([name, count]) => `${name} ${formatThreeDigits(count)}`).join(", ");
    return judgeGoal(
      `${title}: ${instructionsTitle}`,
      tools.get(executableName) ?? Number.NaN,
      undefined,
      peers || why,
    );
  });
}

async function countOne(counter: InstructionCounter, client: Client, load: Load, stub: Stub): Promise<number> {
  await stub.reset();
  const [program = "", ...args] = [...counter.prefix, ...client.command(load, stub, PACE)];
  const child = spawn(program, args, { env: { ...process.env, ...client.env }, stdio: "ignore" });
  const ended = once(child, "exit");
  ended.catch(() => {});
  const requests = async (): Promise<number> => (await stub.counter())[load.way];
  try {
    const endMs = performance.now() + WARM_UP_MS;
    while ((await requests()) < WARM_UP_REQUESTS && performance.now() < endMs && child.exitCode === null)
      await wait(LOOK_MS);
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`it ended with ${child.exitCode ?? child.signalCode}`);
    let served = 0;
    const instructions = await counter.count(child.pid ?? 0, async () => {
      const before = await requests();
      await wait(COUNTED_MS);
      served = (await requests()) - before;
    });
    if (served === 0) throw new Error(`it sent nothing while its instructions were counted`);
    return instructions / served;
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

function renderCounts(counterName: string, counts: Counts, uncounted: ReadonlyMap<string, string>): string {
  const names = [...new Set([...counts.values()].flatMap((byClient) => [...byClient.keys()]))];
  const titles = CASES.map(([title]) => title).filter((title) => counts.has(title));
  const rows = names.map((name) => [
    name,
    ...titles.map((title) => {
      const count = counts.get(title)?.get(name);
      return count === undefined ? "–" : Math.round(count).toLocaleString("en");
    }),
  ]);
  const missing = uncounted.size === 0 ? "" : ` Not counted: ${[...uncounted.keys()].join(", ")}.`;
  for (const [name, reason] of uncounted) console.error(`bench: ${instructionsTitle}, ${name}: ${reason}`);
  const how = `Instructions outside of the kernel, in the steady state, counted with ${counterName}.${missing}`;
  return `${how}\n\n${renderTable([instructionsTitle, ...titles], rows)}`;
}
