// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to parameters are written so
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { mistakesOf } from "./mistakes-of.ts";

/** What is said of mistakes in YAML and JSON: all at once, with line, column and the path in the file. */

/** A least scenario with other lines. */
const with_ = (...lines: string[]): string => ["name: x", "target: embedded", "load: { hold: 1 }", ...lines].join("\n");

/** A file and the beginnings of its errors. */
type Mistake = readonly [name: string, text: string, ...errors: RegExp[]];

const FIELDS: readonly Mistake[] = [
  ["an unknown field", with_("asert: []"), /^x.yaml:4:1, asert: .* Did you mean assert\?/],
  ["a missing field", "name: x\ntarget: embedded", /^x.yaml:1:1, load: is missing/],
  ["a hook", with_("setup: x"), /^x.yaml:4:1, setup: is a function. Only code can say this: write a scenario in TypeS/],
  ["a scenario that is text", "hello", /^x.yaml:1:1: must be fields/],
  ["nothing", "", /^x.yaml:1:1: must be fields/],
  [
    "an option with its old name",
    with_("requestTimeout: 5 s"),
    /^x.yaml:4:1, requestTimeout: .* Write timeout: "30 s"\./,
  ],
  [
    "the calls of a chain with their old name",
    "name: x\ntarget: { http: h }\nload: { sessions: 1 }\ninputs: { chain: { steps: [{ path: /a }] } }",
    /^x.yaml:4:20, inputs.chain.steps: is not an option here. Write calls: \[\{ path: "\/login" \}\]\.$/,
  ],
  ["a wrong value", with_("warmupRequests: -1"), /^x.yaml:4:17, warmupRequests: must be 0 or more \(got -1\)/],
  ["a wrong unit", with_("cancel: { share: 1 %, after: 60 }"), /^x.yaml:4:30, cancel.after: must be a duration with/],
];

const ASSERTIONS: readonly Mistake[] = [
  [
    "one without its list",
    with_("assert: p99 < 25 ms"),
    /^x.yaml:4:9, assert: must be a list .*\. Put it in brackets: \[ … \]\.$/,
  ],
  ["brackets left out", with_("assert: [p99 latency < 25 ms]"), /is not METRIC.* Write p99\(latency\) < 25 ms\.$/],
  [
    "another comparison",
    with_("assert: [{ p99: latency, lessThan: 1 s }]"),
    /Write .*\{ p99: latency, below: 25 ms \}\.$/,
  ],
  ["a field twice", `${with_("seed: 1")}\nseed: 2`, /must be unique\. Leave one of the two out\.$/],
];

const BUILDERS: readonly Mistake[] = [
  [
    "an unknown builder",
    "name: x\ntarget: embeded\nload: { hold: 1 }",
    /^x.yaml:2:9, target: embeded is not a target. Did you mean embedded\?/,
  ],
  [
    "a load with its old name",
    "name: x\ntarget: embedded\nload: { server: { perSec: 1, latency: 1 s } }",
    /^x.yaml:3:9, load.server: is not a load. Write mlperf.server\./,
  ],
  [
    "an argument with another tool's name",
    "name: x\ntarget: embedded\nload: { hold: { users: 4, fo: 1 s } }",
    /^x.yaml:3:17, load.hold.users: is not an option here\. Write concurrency: 4\.$/,
    /^x.yaml:3:27, load.hold.fo: is not an option here. Did you mean for\?/,
  ],
  [
    "a search with its old name",
    "name: x\ntarget: embedded\nload: { findMax: { range: { concurrency: { min: 1, max: 9 } }, where: [p99 < 1 s] } }",
    /^x.yaml:3:29, load.findMax.range.concurrency: is not a load. Write ramp: { from: 1, to: 64 }\./,
  ],
  [
    "code as a target",
    "name: x\ntarget: { defineTarget: {} }\nload: { hold: 1 }",
    /^x.yaml:2:11, target.defineTarget: .* Only code/,
  ],
  [
    "one of two targets that is unknown",
    "name: x\ntarget: { ab: { base: embedded, candidate: { embeded: {} } } }\nload: { hold: 1 }",
    /^x.yaml:2:46, target.ab.candidate.embeded: is not a target. Did you mean embedded\?/,
  ],
  [
    "two targets, of which one is missing",
    "name: x\ntarget: { ab: { base: embedded, candidat: embedded } }\nload: { hold: 1 }",
    /^x.yaml:2:33, target.ab.candidat: is not an option here. Did you mean candidate\?/,
  ],
  [
    "an unknown load of one target",
    "name: x\ntarget: embedded\nload: { perTarget: { chat: { hol: 2 } } }",
    /^x.yaml:3:30, load.perTarget.chat.hol: is not a load. Did you mean hold\?/,
  ],
  [
    "a load for each target that is none",
    "name: x\ntarget: embedded\nload: { perTarget: 7 }",
    /^x.yaml:3:20, load.perTarget: must be loads by the target's name \(got 7\)/,
  ],
  [
    "two builders that are none",
    "name: x\ntarget: embedded\nload: { foo: 1, bar: 2 }",
    /^x.yaml:3:1, load: must be a load by one name \(got foo, bar\)\. Write load: \{ hold: /,
  ],
  [
    "a name near to one of others",
    "name: x\ntarget: embedded\nload: { concurrent: 4 }",
    /^x.yaml:3:9, load.concurrent: is not a load\. Write load: \{ hold: \{ concurrency: 16, for: 30 s \} \}\.$/,
  ],
  [
    "two builders",
    "name: x\ntarget: embedded\nload: { hold: 1, for: 1 s }",
    /^x.yaml:3:1, load: must be a load by one name \(got hold, for\). Write options inside of it: \{ hold: \{ concurrency: 1, for: 1 s \} \}/,
  ],
  [
    "options of k6",
    "name: x\ntarget: embedded\nload: { executor: ramping-vus, stages: [] }",
    /^x.yaml:3:1, load: must be a load by one name \(got executor, stages\)\. Write load: \{ ramp: \{ from: 1, /,
  ],
  [
    "one option of k6",
    "name: x\ntarget: embedded\nload: { stages: [] }",
    /^x.yaml:3:9, load.stages: is not a load\. Write load: \{ ramp: \{ from: 1, to: 64, over: 2 min \} \}\./,
  ],
  [
    "a number for a load",
    "name: x\ntarget: embedded\nload: 16",
    /^x.yaml:3:7, load: must be a load by one name \(got 16\)\. Write load: \{ hold: \{ concurrency: 16, for: 30 s \} \}\./,
  ],
  [
    "a list for a target",
    "name: x\ntarget: [1]\nload: { hold: 1 }",
    /^x.yaml:2:1, target: must be a target by one name\./,
  ],
  [
    "a missing argument",
    "name: x\ntarget: embedded\nload: { ramp: { from: 1 } }",
    /^x.yaml:3:9, load.ramp.to: is missing/,
  ],
  [
    "a wrong argument",
    "name: x\ntarget: embedded\nload: { ramp: { from: 1, to: x } }",
    /^x.yaml:3:30, load.ramp.to: must be a number \(got "x"\)/,
  ],
  [
    "a wrong item",
    "name: x\ntarget: embedded\nload: { steps: [1, 0] }",
    /^x.yaml:3:20, load.steps\[1\]: must be 1 or more/,
  ],
  [
    "a wrong item by name",
    "name: x\ntarget: embedded\nload:\n  steps:\n    levels: [1, 0]\n    fro: 1",
    /^x.yaml:5:17, load.steps.levels\[1\]: must be 1 or more/,
    /^x.yaml:6:5, load.steps.fro: is not an option here/,
  ],
  [
    "an unknown option",
    "name: x\ntarget:\n  embedded:\n    latncy: 2 ms\nload: { hold: 1 }",
    /^x.yaml:4:5, target.embedded.latncy: is not an option here. Did you mean latency\?/,
  ],
  [
    "a mistyped argument",
    "name: x\ntarget: embedded\nload:\n  hold: { concurency: 4 }",
    /^x.yaml:4:11, load.hold.concurency: is not an option here. Did you mean concurrency\?/,
  ],
  [
    "an option of another load",
    "name: x\ntarget: embedded\nload:\n  soak: { concurrency: 4, for: 1 h }",
    /^x.yaml:4:11, load.soak.concurrency: is not an option here. Write load: { hold: 16 }\.$/,
  ],
  [
    "a number in place of options",
    "name: x\ntarget: embedded\nload: { soak: 4 }",
    /^x.yaml:3:15, load.soak: .* Write soak: { load: 4, for: 1 min }\.$/,
  ],
  [
    "no options",
    "name: x\ntarget: { embedded: 5 }\nload: { hold: 1 }",
    /^x.yaml:2:21, target.embedded: takes options by name \(got 5\)/,
  ],
  [
    "a function",
    'name: x\ntarget: { http: { url: "h:1", request: x } }\nload: { hold: 1 }',
    /^x.yaml:2:31, target.http.request: is a function. Only code/,
  ],
  [
    "a member",
    "name: x\ntarget:\n  mix:\n    - { name: a, target: embedded }\n    - { name: b, target: { embedded: { latency: 2 } } }\nload: { hold: 1 }",
    /^x.yaml:5:49, target.mix\[1\].target.embedded.latency: must be a duration/,
  ],
  [
    "a phase",
    "name: x\ntarget: embedded\nload:\n  - { warmup: { for: 1 s, load: { hold: 0 } } }\n  - { hold: 1 }",
    /^x.yaml:4:41, load\[0\].warmup.load.hold.concurrency: must be 1 or more/,
  ],
  [
    "conflicting options",
    "name: x\ntarget: embedded\nload:\n  hold: { concurrency: 1, for: 1 s, requests: 3 }",
    /^x.yaml:4:47, load.hold.requests: .* with for/,
  ],
  ["an assertion", with_("assert:", "  - p99 < 1 s", "  - p99 > 5"), /^x.yaml:6:5, assert\[1\]: must be /],
];

const PARAMETERS: readonly Mistake[] = [
  [
    "an unknown reference",
    with_("params: { users: { integer: 3 } }", 'warmupRequests: "${usrs}"'),
    /^x.yaml:5:17, warmupRequests: there is no parameter usrs \(got \${usrs}\). Did you mean \${users}\?/,
  ],
  [
    "a reference without parameters",
    with_('warmupRequests: "${a}"'),
    /there is no parameter a .* The scenario has no params/,
  ],
  [
    "tags with parameters",
    with_("params: { a: { text: x } }", 'tags: { t: "${a}" }'),
    /^x.yaml:5:1, tags: cannot have parameters/,
  ],
  [
    "an unknown kind",
    with_("params: { a: { intger: 3 } }"),
    /^x.yaml:4:16, params.a.intger: is not a parameter. Did you mean integer\?/,
  ],
];

const TEXTS: readonly Mistake[] = [
  ["a text that is no YAML", "name: [\n", /^x.yaml:2:1: flow sequence/],
  [
    "a field twice",
    "name: x\nname: y\ntarget: embedded\nload: { hold: 1 }",
    /^x.yaml:2:1, name: map keys must be unique/,
  ],
  ["an anchor inside of itself", with_("tags: &a { x: *a }"), /contains itself/],
  [
    "a bomb of aliases",
    with_(
      "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]",
      "b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]",
      "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]",
      "d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]",
      "e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]",
      "f: [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]",
    ),
    /^x.yaml:9:\d+: with aliases written out, the text has more than 200000 values/,
  ],
  ["an unknown alias", with_("tags: *a"), /^x.yaml:4: there is no anchor &a above \(got \*a\)\. Write &a before/],
];

describe("a mistake in YAML is said with its place", () => {
  for (const [title, mistakes] of Object.entries({ FIELDS, ASSERTIONS, BUILDERS, PARAMETERS, TEXTS }))
    test(`in ${title.toLowerCase()}`, () => {
      for (const [name, text, ...errors] of mistakes) {
        const said = mistakesOf(text);
        assert.equal(said.length, errors.length, `${name}: ${said.join("\n")}`);
        for (const [index, error] of errors.entries()) assert.match(said[index] ?? "", error, name);
      }
    });

  test("all at once, in each part", () => {
    const text = [
      "nam: y",
      "name: x",
      "target: { triton: { url: 'h:1', modle: 3 } }",
      "load: [{ hold: 0 }, { rmp: 1 }]",
      "assert: [p98 < 3, errorRate == 5, foo > 1]",
      "setup: x",
    ].join("\n");
    const places = mistakesOf(text).map((said) => /^x.yaml:(\d+):\d+, ([\w.[\]]+):/.exec(said)?.slice(1).join(" "));
    assert.deepEqual(places.sort(), [
      "1 nam",
      "3 target.triton.modle",
      "4 load[0].hold.concurrency",
      "4 load[1].rmp",
      "5 assert[0]",
      "5 assert[1]",
      "5 assert[2]",
      "6 setup",
    ]);
  });

  test("in JSON, which is not YAML", () => {
    const [said = "", ...more] = mistakesOf('{ "name": "x", // a comment\n "target": "embedded" }', "x.json");
    assert.match(said, /^x\.json.* Correct/);
    assert.deepEqual(more, []);
    assert.match(mistakesOf("name: x", "x.json")[0] ?? "", /^x.json: is not JSON: .* name the file x.yaml/);
    const wrong = '{\n  "name": "x",\n  "target": "embedded",\n  "load": { "hold": 0 }\n}';
    assert.match(mistakesOf(wrong, "x.json")[0] ?? "", /^x.json:4:\d+, load.hold/);
  });
});

const LAYOUT: readonly Mistake[] = [
  [
    "a field too far to the right",
    "load:\n  hold:\n    concurrency: 4\n     for: 1 s\n",
    /^x.yaml:3:18: nested mappings .* Check the indentation of this line and of the lines around it: fields of one object/,
  ],
  ["a field too far to the left", "load:\n  hold: 4\n for: 3\n", /^x.yaml:3:1: .* Check the indentation/],
  ["a colon in a text", "name: a: b\n", /^x.yaml:1:7: .* Put the text in quotes: name: "a: b"\.$/],
  ["a tab", "load:\n\thold: 4\n", /^x.yaml:2:1: .* Indent with spaces\.$/],
];

describe("the layout of YAML: one error each, with how to correct it", () => {
  for (const [name, text, error] of LAYOUT)
    test(name, () => {
      const [said = "", ...more] = mistakesOf(text);
      assert.match(said, error as RegExp);
      assert.deepEqual(more, []);
    });
});

test("anchors, merges and $schema are allowed", () => {
  const text = with_("assert: [p99 < 1 s]", "$schema: ./scenario.schema.json");
  assert.deepEqual(mistakesOf(text), []);
  const merged =
    "name: x\ntarget:\n  mix:\n    - &a { name: a, target: embedded, weight: 2 }\n    - { <<: *a, name: b }\nload: { hold: 1 }";
  assert.deepEqual(mistakesOf(merged), []);
});
