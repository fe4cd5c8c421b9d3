import assert from "node:assert/strict";
import { test } from "node:test";
import { modelPath } from "../../../src/service/triton/http-codec.ts";

/** Triton takes names from the path as they stand there, so only what cannot stand in one is encoded. */
for (const [name, version, path] of [
  ["simple", "", "/v2/models/simple"],
  ["simple", "1", "/v2/models/simple/versions/1"],
  ["=a+b@c:d,e&f$g;h", "v+1", "/v2/models/=a+b@c:d,e&f$g;h/versions/v+1"],
  ["a b/ü?#%", "", "/v2/models/a%20b%2F%C3%BC%3F%23%25"],
] as const) {
  test(`the path of model '${name}' version '${version}'`, () => {
    assert.equal(modelPath({ name, version }, ""), path);
  });
}
