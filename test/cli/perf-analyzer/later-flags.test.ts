import assert from "node:assert/strict";
import { test } from "node:test";
import { LATER } from "./flag-table.ts";
import { runCommand } from "./run-command.ts";

/** Flags that are recognised and can not be obeyed yet: never ignored, never half obeyed. */

const ACCEPTED = ["-m", "simple", "--dry-run"];

for (const { flag, accepted, refused } of LATER) {
  test(`${flag} is accepted with its default and refused otherwise`, async () => {
    const plain = await runCommand(ACCEPTED);
    assert.equal(plain.code, 0);
    for (const value of accepted) {
      assert.deepEqual(await runCommand([...ACCEPTED, flag, value]), plain, `${flag} '${value}' changed something`);
    }
    const given = refused === undefined ? [flag] : [flag, refused];
    const { code, out, err } = await runCommand([...ACCEPTED, ...given]);
    assert.equal(code, 99);
    assert.equal(out, "");
    assert.match(err, new RegExp(`^Error: ${flag} is not supported yet`));
    if (refused !== undefined) assert.ok(err.includes(`'${refused}'`), err);
    assert.match(err, /\n {2}Leave it out/);
    for (const value of accepted) assert.ok(err.includes(value));
  });
}
