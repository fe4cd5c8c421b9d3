import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { word } from "../../../src/plan/messages.ts";
import { checkInstallation, findLibrary, libraryFolders } from "../../../src/service/triton-c-api/find-library.ts";
import {
  newMemoryPrefix,
  removeAbandonedMemory,
  removeSharedMemory,
} from "../../../src/service/triton-c-api/shared-memory-files.ts";
import { PythonFolders, startTritonProcess } from "../../../src/service/triton-c-api/start-process.ts";
import type { TritonInProcessTargetPlan } from "../../../src/service/triton-c-api/target.ts";
import { makeFolder } from "../../make-folder.ts";
import { LIMIT } from "../../time-limit.ts";

const folder = makeFolder();

describe("the library is found", () => {
  const cases = [
    { name: "in lib, as in Triton's container", library: "a/lib/libtritonserver.so", directory: "a" },
    { name: "in the folder itself", library: "b/libtritonserver.so", directory: "b" },
    {
      name: "with a hash beside a Python package",
      library: "c/site/some_package.libs/libtritonserver-717102f0.so",
      directory: "c/site/package/tritonserver",
    },
  ];
  for (const { name, library, directory } of cases) {
    test(name, () => {
      mkdirSync(join(folder, directory), { recursive: true });
      mkdirSync(dirname(join(folder, library)), { recursive: true });
      writeFileSync(join(folder, library), "");
      assert.equal(findLibrary(join(folder, directory)), join(folder, library));
    });
  }
});

test("a check reports everything that is missing at once, and what is there", () => {
  mkdirSync(join(folder, "models/one"), { recursive: true });
  mkdirSync(join(folder, "empty"));
  const target = { directory: join(folder, "empty"), modelRepository: join(folder, "models"), model: "two" };
  const problems = checkInstallation(target as TritonInProcessTargetPlan);
  assert.deepEqual(
    problems.map(({ code, path, value }) => [code, word(path), value]),
    [
      ["missing", "target.directory", join(folder, "empty")],
      ["unknown-name", "target.model", "two"],
    ],
  );
  assert.match(word(problems[0]?.message ?? ""), /the folder contains nothing/);
  assert.equal(problems[1]?.hint, "It has one.");
});

test("a repository that only the library knows is not looked at", () => {
  const target = { directory: join(folder, "a"), modelRepository: "s3://bucket/models", model: "two" };
  assert.deepEqual(checkInstallation(target as TritonInProcessTargetPlan), []);
});

test("the process finds the libraries that lie beside Triton's", LIMIT, async () => {
  const directory = join(folder, "d/site/package/tritonserver");
  const library = join(folder, "d/site/some_package.libs/libtritonserver-717102f0.so");
  mkdirSync(join(directory, "external_libs"), { recursive: true });
  mkdirSync(dirname(library), { recursive: true });
  writeFileSync(library, "");
  const folders = libraryFolders(directory, library);
  assert.deepEqual(folders, [dirname(library), join(directory, "external_libs")]);
  const target = { directory, modelRepository: folder, model: "m", composingModels: [], isStreaming: false };
  const args = ["-c", 'echo "searched: $LD_LIBRARY_PATH"; exit 3'];
  const started = startTritonProcess(target as never, library, { command: "sh", args });
  await assert.rejects(started.ready, (error: Error) => error.message.includes(folders.join(":")));
  await started.close();
});

test("only the empty folders that appear while models are loaded are removed", () => {
  const folder = makeFolder();
  const make = (name: string): void => mkdirSync(join(folder, name));
  make("python_env_before");
  const folders = new PythonFolders(folder);
  for (const name of ["python_env_own", "python_env_full", "other"]) make(name);
  writeFileSync(join(folder, "python_env_full", "x"), "");
  folders.note();
  make("python_env_later");
  folders.remove();
  assert.deepEqual(readdirSync(folder).sort(), ["other", "python_env_before", "python_env_full", "python_env_later"]);
});

const skip = !existsSync("/dev/shm");

function namesOf(...prefixes: readonly string[]): string[] {
  return readdirSync("/dev/shm").filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
}

test("a run removes its own shared memory, and not that of another run of the same process", { skip }, () => {
  const [ended, running] = [newMemoryPrefix(), newMemoryPrefix()];
  for (const prefix of [ended, running]) writeFileSync(`/dev/shm/${prefix}a`, "");
  removeSharedMemory(ended);
  removeAbandonedMemory();
  assert.deepEqual(namesOf(ended, running), [`${running}a`]);
  removeSharedMemory(running);
  assert.deepEqual(namesOf(ended, running), []);
});

test("what a process has left that has ended is removed", { skip }, () => {
  const left = "/dev/shm/rampart_4194305_1_a"; // No process has such a number: it is above the kernel's limit.
  writeFileSync(left, "");
  removeAbandonedMemory();
  assert.equal(existsSync(left), false);
});
