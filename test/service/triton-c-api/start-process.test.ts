import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { PythonFolders } from "../../../src/service/triton-c-api/start-process.ts";

test("only the empty folders that appear while models are loaded are removed", () => {
  const folder = mkdtempSync(join(tmpdir(), "rampart-python-"));
  const make = (name: string): void => mkdirSync(join(folder, name));
  try {
    make("python_env_before");
    const folders = new PythonFolders(folder);
    for (const name of ["python_env_own", "python_env_full", "other"]) make(name);
    writeFileSync(join(folder, "python_env_full", "x"), "");
    folders.note();
    make("python_env_later");
    folders.remove();
    assert.deepEqual(readdirSync(folder).sort(), ["other", "python_env_before", "python_env_full", "python_env_later"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
