import assert from "node:assert/strict";
import { test } from "node:test";
import { maskText } from "../../../../src/plan/secrets.ts";
import { listFacts } from "../../../../src/report/read/runs/foreign-metrics.ts";

/** What was measured, as paths and values. */

test("plain data is listed by paths, lists of plain values as one", () => {
  const data = { a: { b: "text", c: [1, "x"], d: null, e: [{ f: true }] }, g: 1, skipped: { h: 2 }, gone: undefined };
  assert.deepEqual(
    [...listFacts(data, new Set(["skipped"]))],
    [
      ["a.b", "text"],
      ["a.c", '[1,"x"]'],
      ["a.d", "null"],
      ["a.e.0.f", "true"],
      ["g", "1"],
    ],
  );
  assert.equal(listFacts(undefined).size, 0);
});

test("keys, headers and logins of a file are masked from then on", () => {
  const data = {
    endpoint: {
      api_key: "key-of-endpoint-1",
      headers: { Authorization: "Bearer bearer-of-header-2" },
      header: ["X-Api-Key: key-of-list-3", "X-Trace: visible-value-4"],
      url: "http://user:login-password-5@host:1",
    },
    output_tokens_mean: "visible-value-6",
  };
  const shown = maskText(JSON.stringify([...listFacts(data)]));
  for (const secret of ["key-of-endpoint-1", "bearer-of-header-2", "key-of-list-3", "login-password-5"])
    assert.ok(!shown.includes(secret), secret);
  for (const value of ["visible-value-4", "visible-value-6"]) assert.ok(shown.includes(value), value);
});
