import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import { MOCK_SERVICES } from "../../src/mock/services/table.ts";
import type { MockPlan } from "../../src/plan/mock.ts";
import { type ProcessResult, ROOT, rampartCommand, startProcess } from "../cli/rampart-process.ts";
import { blocksOf } from "./blocks.ts";

/** What the commands of the guides need: the test server that they start in another terminal, and a folder with the files that they show. */

/** The test server. */
export interface GuideServer {
  /** Replaces the addresses that guides show by those of the server. */
  withRealAddresses(text: string): string;
  /** The opposite; where the text is a table, its columns stay in place. */
  withShownAddresses(text: string): string;
  stop(): Promise<void>;
}

/** Starts the test server at free ports. */
export async function startGuideServer(plan: MockPlan): Promise<GuideServer> {
  const switches = Object.values(MOCK_SERVICES).filter(({ value }) => value === undefined);
  const services = await Promise.all(switches.map((service) => service.create(plan, "")));
  const mock = await startMock(plan, LOOPBACK, services);
  const addresses = [
    ["localhost:8000", `127.0.0.1:${mock.httpPort}`],
    ["localhost:8001", `127.0.0.1:${mock.grpcPort}`],
  ] as const;
  return {
    withRealAddresses: (text) => addresses.reduce((replaced, [shown, real]) => replaced.replaceAll(shown, real), text),
    withShownAddresses: (text) =>
      addresses.reduce(
        (replaced, [shown, real]) =>
          replaced
            .replaceAll(new RegExp(`${real}(.*?)(?= {2,})`, "g"), `${shown}$1${" ".repeat(real.length - shown.length)}`)
            .replaceAll(real, shown),
        text,
      ),
    stop: () => mock.stop(),
  };
}

/** A folder in which the commands of a guide find its files and the command `rampart`. */
export interface GuideFolder {
  readonly path: string;
  /** Runs a line of a guide in a shell. */
  run(line: string): Promise<ProcessResult>;
  remove(): void;
}

/** Creates the folder of a guide. */
export function makeGuideFolder(guide: string, server: GuideServer): GuideFolder {
  const folder = mkdtempSync(join(tmpdir(), "rampart-guides-"));
  for (const { file, text } of blocksOf(guide))
    if (file !== "") writeFileSync(join(folder, file), server.withRealAddresses(text));
  for (const name of ["scenarios", "test"]) symlinkSync(join(ROOT, name), join(folder, name));
  symlinkSync(join(ROOT, "test", "tokenize", "fixtures", "tiny"), join(folder, "tokenizer"));
  mkdirSync(join(folder, "bin"));
  const quoted = rampartCommand().map((word) => `'${word}'`);
  writeFileSync(join(folder, "bin", "rampart"), `#!/bin/sh\nexec ${quoted.join(" ")} "$@"\n`);
  chmodSync(join(folder, "bin", "rampart"), 0o755);
  const env = { PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}` };
  return {
    path: folder,
    run: (line) => startProcess(["sh", "-c", server.withRealAddresses(line)], { cwd: folder, env }).result,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
