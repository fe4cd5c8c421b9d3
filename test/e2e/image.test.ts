// Runs only on: executable: the image is made of it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { Manifest } from "../cli/k8s/cluster.ts";
import { makeFolder } from "../make-folder.ts";
import { copyLibraries } from "../release/roots.ts";
import { installTool } from "../servers/install-tool.ts";
import { LIMIT } from "../time-limit.ts";
import { commandUnderTest, runRampart } from "./command.ts";

/**
 * The image of compile/Containerfile, built and run by buildah. No registry is asked: the image that it is based on has only the libraries that the
 * executable names. Needs root.
 */

const CONTAINERFILE = join(import.meta.dirname, "..", "..", "compile", "Containerfile");
const IMAGE = "localhost/rampart:test";
const BASE = "localhost/libraries:test";
const SCENARIO = `import { defineScenario, embedded, errorRate, hold } from "rampart";
export default defineScenario({
  name: "in an image",
  target: embedded(),
  load: hold(2, { requests: 100 }),
  setup: () => console.error(\`user \${process.getuid?.()}\`),
  assert: [errorRate().is(0)],
});
`;

const folder = makeFolder();
before(() => {
  assert.equal(commandUnderTest.length, 1, "RAMPART_COMMAND must be an executable");
  installTool("buildah");
  const [executable = ""] = commandUnderTest;
  for (const name of ["libraries", "dist", "work"]) mkdirSync(join(folder, name));
  copyLibraries(executable, join(folder, "libraries"));
  cpSync(executable, join(folder, "dist", "rampart"));
  writeFileSync(join(folder, "base"), "FROM scratch\nCOPY . /\n");
  build("base", BASE, "libraries");
  build(CONTAINERFILE, IMAGE, "dist", ["--build-arg", `BASE=${BASE}`]);
});

/** Runs buildah with images of this test's own. */
function buildah(args: readonly string[]): string {
  const places = ["--root", join(folder, "images"), "--runroot", join(folder, "run"), "--storage-driver", "vfs"];
  const { status, stdout, stderr, error } = spawnSync("buildah", [...places, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  assert.equal(status, 0, `buildah ${args.join(" ")}: ${error ?? stderr}`);
  return `${stdout}${stderr}`;
}

/** @param from folder with the files of the image */
function build(file: string, image: string, from: string, more: readonly string[] = []): void {
  buildah(["bud", "--quiet", "--isolation", "chroot", ...more, "--file", file, "--tag", image, from]);
}

test("the image runs the command of the pods as their user, and measures", LIMIT, async () => {
  const { user, command } = await describePods();
  const container = buildah(["from", IMAGE]).trim();
  const run = (...args: readonly string[]): string =>
    buildah(["run", "--isolation", "chroot", "--volume", `${join(folder, "work")}:/work:ro`, container, "--", ...args]);
  assert.match(run(...command, "--version"), /^rampart \d+\.\d+\.\d+$/m);
  const report = run(...command, "run", "/work/load.ts");
  assert.match(report, /^PASSED {2}in an image.* 100 requests/m);
  assert.match(report, new RegExp(`^user ${user}$`, "m"));
  const { OCIv1 } = JSON.parse(buildah(["inspect", "--type", "image", IMAGE])) as Inspected;
  assert.deepEqual([OCIv1.config.User, OCIv1.config.Entrypoint], [`${user}:${user}`, command]);
});

interface Inspected {
  readonly OCIv1: { readonly config: { readonly User: string; readonly Entrypoint: readonly string[] } };
}

/** Returns what a manifest says of its pods. */
async function describePods(): Promise<{ readonly user: number; readonly command: readonly string[] }> {
  writeFileSync(join(folder, "work", "load.ts"), SCENARIO);
  writeFileSync(
    join(folder, "pods.ts"),
    SCENARIO.replace("embedded()", 'http("http://gpu-host/x")').replace("embedded", "http"),
  );
  const args = ["k8s", "manifest", "pods.ts", "--agents", "1", "--image", IMAGE];
  const { code, stdout, stderr } = await runRampart(args, { cwd: folder });
  assert.equal(code, 0, stderr);
  const { container, securityContext } = new Manifest(stdout).podOf("Job");
  return { user: securityContext.runAsUser, command: container.command ?? [] };
}
