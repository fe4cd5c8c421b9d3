import assert from "node:assert/strict";
import { test } from "node:test";
import { type Flag, parseFlags } from "../../src/cli/flags.ts";
import { formatHelpPage } from "../../src/cli/help/page.ts";

/** Defaults of the flags of Rampart's own commands. */

const FLAGS: readonly Flag[] = [
  { name: "host", value: "HOST", default: "127.0.0.1", help: "Address." },
  { name: "for", value: "DURATION", defaultText: "10s, without --requests", help: "How long." },
];

test("a flag's default is its value until it is given", () => {
  assert.equal(parseFlags(FLAGS, [], 0).value("host"), "127.0.0.1");
  assert.equal(parseFlags(FLAGS, ["--host", "a", "--host", "b"], 0).value("host"), "b");
  assert.equal(parseFlags(FLAGS, [], 0).text("host"), undefined);
});

test("only flags with a default have a value when they are not given", () => {
  assert.throws(() => parseFlags(FLAGS, [], 0).value("for"), /--for has no default/);
  assert.equal(parseFlags(FLAGS, ["--for", "5s"], 0).value("for"), "5s");
});

test("help shows the default, or what applies without the flag", () => {
  const help = formatHelpPage({ usage: ["x"], about: ["Does it."], flags: FLAGS }, false);
  assert.match(help, /Address\. Default: 127\.0\.0\.1\./);
  assert.match(help, /How long\. Default: 10s, without --requests\./);
});
