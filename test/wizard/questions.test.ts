import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ListedModel } from "../../src/service/service.ts";
import { type Answers, parseShapes, type QuestionId } from "../../src/wizard/answers.ts";
import type { Surroundings } from "../../src/wizard/question.ts";
import { nextQuestion, QUESTIONS, scenarioName } from "../../src/wizard/questions.ts";

/** The graph of questions: order, need, defaults, checks. */

function model(name: string, shape: number[], change: Partial<ListedModel> = {}): ListedModel {
  const tensor = { name: "IN", datatype: "FP32", shape, isOptional: false };
  return { name, version: "", maxBatchSize: 8, inputs: [tensor], outputs: [], refusal: "", ...change } as ListedModel;
}

const fixed = model("fixed", [16]);
const variable = model("variable", [3, -1]);
const refused = model("refused", [1], { refusal: "sequences are not supported yet" });
const models = [fixed, variable, refused];

function around(
  change: { models?: ListedModel[]; files?: string[]; isOffline?: boolean; given?: Answers; text?: string } = {},
): Surroundings {
  return {
    models: change.models ?? models,
    isOffline: change.isOffline ?? false,
    given: change.given ?? {},
    readText: () => change.text,
    fileExists: (path) => (change.files ?? []).includes(path),
    findFolderProblem: (path) => (path.startsWith("/locked/") ? "cannot be written" : undefined),
  };
}

function question(id: QuestionId): (typeof QUESTIONS)[number] {
  const found = QUESTIONS.find((entry) => entry.id === id);
  if (found === undefined) throw new Error(`no question ${id}`);
  return found;
}

/** Which questions come when each is answered by its default, or as given. */
function ask(given: Answers, surroundings: Surroundings): { order: QuestionId[]; answers: Answers } {
  const order: QuestionId[] = [];
  let answers: Answers = {};
  for (let next = nextQuestion(answers, surroundings); next; next = nextQuestion(answers, surroundings)) {
    order.push(next.id);
    const answer = given[next.id] ?? next.preset(answers, surroundings);
    assert.ok(answer !== undefined, `${next.id} has no default`);
    assert.equal(next.check(answer, answers, surroundings), undefined, `${next.id}: ${answer}`);
    answers = { ...answers, [next.id]: answer };
  }
  return { order, answers };
}

describe("the wizard asks", () => {
  test("the embedded target's questions all have valid defaults", () => {
    const { order, answers } = ask({}, around());
    assert.deepEqual(order, ["target", "protocol", "goal", "load", "users", "for", "p99-limit", "save", "run"]);
    assert.deepEqual(answers, {
      target: "embedded",
      protocol: "http",
      goal: "curve",
      load: "users",
      users: "1:4",
      for: "2 s",
      "p99-limit": "50 ms",
      save: "./embedded.ts",
      run: "yes",
    });
  });

  test("a server's address and model", () => {
    const { order, answers } = ask({ target: "triton" }, around({ models: [fixed, refused] }));
    assert.deepEqual(order.slice(0, 5), ["target", "protocol", "url", "model", "goal"]);
    assert.deepEqual(
      [answers.url, answers.model, answers["p99-limit"], answers.save],
      ["localhost:8000", "fixed", "none", "./fixed.ts"],
    );
  });

  test("a language model's address, name and tokenizer, and no protocol", () => {
    const { order, answers } = ask({ target: "openai", model: "fixed" }, around());
    assert.deepEqual(order.slice(0, 7), ["target", "url", "model", "goal", "tokenizer", "isl", "osl"]);
    assert.deepEqual([answers.url, answers.tokenizer], ["localhost:8000", "fixed"]);
  });

  test("TorchServe's address at its own port, a model and the files", () => {
    const { order, answers } = ask({ target: "torchserve", model: "fixed", files: "*.jpg" }, around());
    assert.deepEqual(order.slice(0, 5), ["target", "url", "model", "goal", "files"]);
    assert.deepEqual([answers.url, answers.files], ["localhost:8080", "*.jpg"]);
    assert.match(question("files").check(" ", {}, around()) ?? "", /a path or a pattern/);
  });

  test("an HTTP server's address and path, unless the address has one", () => {
    const { order, answers } = ask({ target: "http" }, around());
    assert.deepEqual(order.slice(0, 4), ["target", "url", "path", "goal"]);
    assert.deepEqual([answers.url, answers.path], ["localhost:8000", "/"]);
    for (const url of ["h:1/predict", "http://h/a?b=c", "h?x=1"]) {
      const { order: shorter } = ask({ target: "http", url }, around());
      assert.ok(!shorter.includes("path"), url);
    }
  });

  test("sizes only of a model whose shape varies", () => {
    const { order, answers } = ask({ target: "triton", protocol: "grpc", model: "variable" }, around());
    assert.deepEqual(order.slice(2, 7), ["url", "model", "goal", "shapes", "load"]);
    assert.deepEqual([answers.url, answers.shapes], ["localhost:8001", "IN:3,1"]);
  });

  test("nothing that is answered already, whatever the order of answers", () => {
    const answers: Answers = { run: "no", users: "4", target: "embedded", goal: "number", load: "users" };
    assert.equal(nextQuestion(answers, around())?.id, "protocol");
    assert.equal(nextQuestion({ ...answers, protocol: "http", for: "1 s", "p99-limit": "none" }, around())?.id, "save");
  });
});

describe("a question's default", () => {
  const cases: readonly (readonly [QuestionId, Answers, string | undefined])[] = [
    ["target", {}, "embedded"],
    ["target", { url: "h:1" }, "triton"],
    ["target", { model: "m" }, "triton"],
    ["users", { target: "embedded", goal: "curve" }, "1:4"],
    ["users", { target: "triton", goal: "curve" }, "1,2,4,8,16"],
    ["users", { goal: "number" }, "4"],
    ["rate", { goal: "number" }, "100"],
    ["peak", { goal: "spike", load: "users", users: "4" }, "40"],
    ["against", { goal: "comparison", target: "http" }, "server"],
    ["against", { goal: "comparison", target: "triton" }, "model"],
    ["against", { goal: "comparison", target: "embedded" }, "protocol"],
    ["against", { goal: "comparison", target: "tritonInProcess" }, "model"],
    ["recording", { goal: "replay", target: "openai" }, "requests"],
    ["recording", { goal: "replay", target: "torchserve" }, "gaps"],
    ["goal", { target: "triton" }, "curve"],
    ["model", {}, undefined],
    ["p99-limit", { goal: "curve", target: "embedded" }, "50 ms"],
    ["p99-limit", { goal: "curve", target: "triton" }, "none"],
    ["p99-limit", { goal: "limit", target: "triton" }, undefined],
    ["p99-limit", { goal: "limit", target: "embedded" }, "50 ms"],
    ["error-limit", { goal: "limit", target: "triton" }, "1 %"],
    ["error-limit", { goal: "limit", target: "triton", "p99-limit": "none" }, "1 %"],
    ["error-limit", { goal: "limit", target: "triton", "p99-limit": "30 ms" }, "none"],
    ["error-limit", { goal: "limit", target: "openai", "ttft-limit": "30 ms" }, "none"],
    ["save", { target: "triton", model: "a/b c" }, "./a-b-c.ts"],
  ];
  for (const [id, answers, expected] of cases) {
    test(`${id} after ${JSON.stringify(answers)}`, () => {
      assert.equal(question(id).preset(answers, around()), expected);
    });
  }

  test("out is the first file that does not exist", () => {
    const files = ["./embedded.ts", "./embedded-2.ts"];
    assert.equal(question("save").preset({ target: "embedded" }, around({ files })), "./embedded-3.ts");
  });

  test("a scenario is called as its model", () => {
    assert.equal(scenarioName({ target: "embedded" }), "embedded");
    assert.equal(scenarioName({ target: "http", url: "h:1" }), "http");
    assert.equal(scenarioName({ target: "triton", model: "../a b" }), "..-a-b");
  });
});

describe("an answer is checked:", () => {
  const triton: Answers = { target: "triton", model: "variable" };
  const cases: readonly (readonly [QuestionId, string, Answers, RegExp | undefined])[] = [
    ["target", "triton", {}, undefined],
    ["target", "openai", {}, undefined],
    ["target", "nosuch", {}, /one of (\w+, )*triton, /],
    ["path", "/a?b=1", { target: "http", url: "h:1" }, undefined],
    ["path", "a", { target: "http", url: "h:1" }, /must begin with a slash/],
    ["tokenizer", " ", { target: "openai" }, /a folder, a model's name or none/],
    ["tokenizer", "none", { target: "openai" }, undefined],
    ["protocol", "https", {}, /one of http, grpc/],
    ["url", " ", triton, /must be host:port, http:/],
    ["url", "two words", triton, /must be host:port, http:/],
    ["url", "localhost:80000", triton, /must be host:port, http:/],
    ["url", "host:8000/path?query=1", triton, undefined],
    ["address", "", {}, undefined],
    ["address", "localhost:9nonsense", {}, /must be host:port, http:/],
    ["address", "https://host/v1", {}, undefined],
    ["url", "host:1", triton, undefined],
    ["model", "variable", triton, undefined],
    ["model", "other", triton, /is not ready on the server, which has fixed, variable, refused/],
    ["model", "refused", triton, /cannot be measured: sequences/],
    ["shapes", "IN:3,224", triton, undefined],
    ["shapes", "", triton, /must have the input IN/],
    ["shapes", "OTHER:3,224", triton, /must have the input IN/],
    ["shapes", "IN:3", triton, /2 whole sizes/],
    ["shapes", "IN:3,0", triton, /2 whole sizes/],
    ["shapes", "IN:3,x", triton, /2 whole sizes/],
    ["goal", "limit", triton, undefined],
    ["goal", "nosuch", triton, /one of number, curve, limit, /],
    ["goal", "comparison", { target: "embedded" }, undefined],
    ["against", "server", { goal: "comparison", target: "embedded" }, /must be one of protocol/],
    ["against", "protocol", { goal: "comparison", target: "tritonInProcess" }, /must be one of model/],
    ["load", "sessions", { goal: "number" }, /one of users, rate/],
    ["users", "1:8", { goal: "curve" }, undefined],
    ["users", "1:8:7", { goal: "curve" }, undefined],
    ["users", "4:4", { goal: "curve" }, undefined],
    ["users", "8", { goal: "curve" }, undefined],
    ["users", "1,8,2", { goal: "curve" }, undefined],
    ["users", "8:1", { goal: "curve" }, /START:END/],
    ["users", "1:2,4", { goal: "curve" }, /START:END/],
    ["users", "1:2:3:4", { goal: "curve" }, /START:END/],
    ["users", "0:4", { goal: "curve" }, /^must be whole numbers of 1 or more$/],
    ["users", "0", { goal: "limit" }, /^must be a whole number of 1 or more$/],
    ["users", "1:4:", { goal: "curve" }, /START:END/],
    ["users", "16", { goal: "number" }, undefined],
    ["users", "x", { goal: "number" }, /a number of users, such as 4/],
    ["users", "1.5", { goal: "number" }, /^must be a whole number of 1 or more$/],
    ["users", "1:4", { goal: "number" }, /a number of users/],
    ["users", "16", { goal: "limit" }, undefined],
    ["users", "2:16", { goal: "limit" }, undefined],
    ["users", "1", { goal: "limit" }, /the largest number or MIN:MAX/],
    ["users", "16:2", { goal: "limit" }, /the largest number or MIN:MAX/],
    ["users", "3", { goal: "replay", recording: "conversations" }, /more than the file's 2 conversations/],
    ["users", "2", { goal: "replay", recording: "conversations" }, undefined],
    ["rate", "0.5", { goal: "number" }, undefined],
    ["rate", "0", { goal: "number" }, /^must be above 0 requests per second$/],
    ["rate", "Infinity", { goal: "number" }, /requests per second/],
    ["rate", "fast", { goal: "number" }, /requests per second/],
    ["rate", "10:50:20", { goal: "curve" }, undefined],
    ["rate", "10:50", { goal: "curve" }, /START:END:STEP/],
    ["rate", "1:9:0.000001", { goal: "curve" }, /START:END:STEP/],
    ["peak", "5", { goal: "spike", load: "users", users: "4" }, undefined],
    ["peak", "4", { goal: "spike", load: "users", users: "4" }, /above the normal 4/],
    ["peak", "4.5", { goal: "spike", load: "users", users: "4" }, /^must be a whole number of 1 or more$/],
    ["other-model", "fixed", { ...triton, goal: "comparison" }, undefined],
    ["other-model", "variable", { ...triton, goal: "comparison" }, /is the model itself/],
    ["other-model", "refused", { ...triton, goal: "comparison" }, /cannot be measured/],
    ["other-model", "none", { ...triton, goal: "comparison" }, /is not ready on the server/],
    ["other-url", "two words", { ...triton, goal: "comparison", url: "h:1" }, /must be host:port, http:/],
    ["other-url", "h:1", { ...triton, goal: "comparison", url: "h:1" }, /is the same server/],
    ["recording", "requests", { goal: "replay", target: "torchserve" }, /one of gaps/],
    ["file", "nowhere", { goal: "replay" }, /does not exist/],
    ["file", "there.ts", { goal: "replay", recording: "requests" }, /no entries with a "timestamp"/],
    ["file", "there.ts", { goal: "replay", recording: "conversations" }, undefined],
    ["for", "250ms", { goal: "curve" }, undefined],
    ["for", "stable", { goal: "curve" }, undefined],
    ["for", "stable", { goal: "soak" }, /a duration with its unit/],
    ["for", "5", { goal: "curve" }, /a duration with its unit/],
    ["for", "0 s", { goal: "curve" }, /a duration with its unit/],
    ["for", "none", { goal: "curve" }, /or stable/],
    ["p99-limit", "none", { goal: "curve" }, undefined],
    ["p99-limit", "none", { goal: "limit" }, undefined],
    ["error-limit", "2%", { goal: "limit" }, undefined],
    ["error-limit", "2", { goal: "limit" }, /a share with its sign, such as 1 %, or none/],
    ["error-limit", "none", { goal: "limit", "p99-limit": "1 s" }, undefined],
    ["error-limit", "none", { goal: "limit", "p99-limit": "none" }, /the search needs a limit/],
    ["p99-limit", "25 ms", { goal: "curve" }, undefined],
    ["p99-limit", "25", { goal: "curve" }, /or none/],
    ["isl", "0", { target: "openai" }, /a whole number of tokens/],
    ["osl", "128", { target: "openai" }, undefined],
    ["save", "a/b.ts", {}, undefined],
    ["save", "b.mts", {}, undefined],
    ["save", "b.js", {}, /end in \.ts/],
    ["save", "there.ts", {}, /exists already/],
    ["run", "maybe", {}, /one of yes, no/],
  ];
  for (const [id, answer, answers, expected] of cases) {
    test(`${id} '${answer}'${answers.goal === undefined ? "" : ` for ${answers.goal}`}`, () => {
      const text = '{"session_id": "a"}\n{"session_id": "b"}\n{"session_id": "a"}\n';
      const problem = question(id).check(answer, answers, around({ files: ["there.ts"], text }));
      if (expected === undefined) assert.equal(problem, undefined);
      else assert.match(problem ?? "", expected);
    });
  }
});

test("running is the default unless the scenario lacks its server or its tokenizer here", () => {
  const preset = (change: Partial<Surroundings>, answers: Answers = { target: "triton" }) =>
    question("run").preset(answers, { ...around(), ...change });
  assert.equal(preset({}), "yes");
  assert.equal(preset({ isOffline: true }), "no");
  assert.equal(preset({ isOffline: true }, { target: "embedded" }), "yes");
  assert.equal(preset({ lacksTokenizer: true }, { target: "openai" }), "no");
});

test("models are offered with their shapes, or why they cannot be measured", () => {
  const choices = question("model").choices?.({ target: "triton" }, around()) ?? [];
  assert.deepEqual(
    choices.map(({ value, hint }) => [value, hint]),
    [
      ["fixed", "IN FP32[16], batches of up to 8"],
      ["variable", "IN FP32[3,-1], batches of up to 8"],
      ["refused", "sequences are not supported yet"],
    ],
  );
});

test("sizes are read by input, whose name may have a colon", () => {
  assert.deepEqual(parseShapes(" IN:3,224  A:B:1 "), { IN: [3, 224], "A:B": [1] });
});
