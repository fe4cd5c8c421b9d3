import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAddress } from "../../src/wizard/address.ts";

const ADDRESSES: readonly (readonly [text: string, isAddress: boolean])[] = [
  ["localhost", true],
  [" localhost:8000 ", true],
  ["[::1]:8000", true],
  ["https://host/v1", true],
  ["host/path?query=a b", true],
  ["", false],
  ["two words", false],
  ["host:80000", false],
  ["host:9nonsense", false],
];

for (const [text, isAddress] of ADDRESSES)
  test(`'${text}' is ${isAddress ? "an" : "no"} address`, () => {
    if (isAddress) assert.equal(checkAddress(text), undefined);
    else assert.match(checkAddress(text) ?? "", /^must be host:port, http:\/\/host:port or https:\/\/host:port$/);
  });
