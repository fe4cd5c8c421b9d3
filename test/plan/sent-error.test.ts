import assert from "node:assert/strict";
import { test } from "node:test";
import { RunError, UserError, userError } from "../../src/plan/problem.ts";
import { ERROR_FORM } from "../../src/plan/sent-error.ts";

test("errors keep their class and fields in another thread", () => {
  const errors = [
    userError("invalid-value", "--isl", "is too long", "Give less.", "9"),
    new RunError("output", "no place", "Make some."),
    new TypeError("odd"),
  ] as const;
  const [user, run, other] = errors.map((error) => ERROR_FORM.receive(structuredClone(ERROR_FORM.send(error))));
  assert.ok(user instanceof UserError);
  assert.deepEqual(user.problems, errors[0].problems);
  assert.ok(run instanceof RunError);
  assert.deepEqual([run.code, run.message, run.hint], ["output", "no place", "Make some."]);
  assert.equal(other?.message, "odd");
});
