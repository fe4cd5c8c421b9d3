import type { WrongScenario } from "./wrong-scenario.ts";

/** Targets and inputs. */
export const TARGETS: readonly WrongScenario[] = [
  {
    name: "targets of a mix by their names",
    fields: ["target: mix({ a: embedded(), b: embedded() })", "load: hold(4)"],
    says: '4:3, target: must be a list of { name, target, inputs, weight } (got <*>). Write [{ name: "a", target: … }, { name: "b", target: … }].',
  },
  {
    name: "a header with a variable of the environment that is not set",
    fields: ['target: http("h:1", { headers: { A: "Bearer " + process.env.NOT_SET } })', "load: hold(4)"],
    says: "4:<*>, target.headers.A: has a variable in it that is not set <*> Give it a value.",
    compiles: "Any text is a header.",
  },
  {
    name: "an address with a variable of the environment that is not set",
    fields: ['target: http("http://" + process.env.NOT_SET + "/x")', "load: hold(4)"],
    says: '4:<*>, target.url: has a variable in it that is not set (got "http://undefined/x"). Give it a value.',
    compiles: "Any text may be an address.",
  },
  {
    name: "a model with a variable of the environment that is not set",
    fields: ['target: triton("h:1", { model: String(process.env.NOT_SET) })', "load: hold(4)"],
    says: '4:<*>, target.model: has a variable in it that is not set (got "undefined"). Give it a value.',
    compiles: "Any text may be a name.",
  },
  {
    name: "prompts in a list",
    fields: ['target: openai("localhost:8000", { model: "m" })', 'inputs: [{ prompt: "Hello" }]', "load: hold(4)"],
    says: '5:3, inputs: must be <*> (got [{"prompt":"Hello"}]). Write input.generate(() => ({ prompt: "…" })), or another of them.',
  },
  {
    name: "the file of prompts alone",
    fields: ['target: openai("localhost:8000", { model: "m" })', 'inputs: "talks.jsonl"', "load: hold(4)"],
    says: '5:3, inputs: must be <*> (got "talks.jsonl"). Write input.prompts({ file: "talks.jsonl" }), or another of them.',
  },
  {
    name: "prompts for tensors",
    fields: [
      'target: triton("localhost:8000", { model: "simple" })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
    ],
    says: "5:3, inputs: triton(…) takes tensors (got input.prompts(…)). Use input.random(), input.zero() or input.json(…), or an openai(…) target.",
  },
  {
    name: "a language model without inputs",
    fields: ['target: openai("localhost:8000", { model: "m" })', "load: hold(4)"],
    says: "2:16, inputs: the target takes input.prompts(…) or input.payloads(…). Write inputs: input.prompts({ isl: 550, osl: 128 }).",
  },
  {
    name: "the embedded language model without inputs",
    fields: ["target: embeddedLlm()", "load: hold(4)"],
    says: "2:16, inputs: the target takes input.prompts(…) or input.payloads(…). Write inputs: input.prompts({ isl: 550, osl: 128 }).",
  },
  {
    name: "tensors for a language model",
    fields: ['target: openai("localhost:8000", { model: "m" })', "inputs: input.random()", "load: hold(4)"],
    says: "5:3, inputs: the target takes input.prompts(…) or input.payloads(…) (got random). Write inputs: input.prompts({ isl: 550, osl: 128 }).",
  },
  {
    name: "a member of a mix without its inputs",
    fields: ['target: mix([{ name: "a", target: embedded() }, { name: "b", target: embeddedLlm() }])', "load: hold(4)"],
    says: "4:51, target[1].inputs: the target takes input.prompts(…) or input.payloads(…). Write inputs: input.prompts({ isl: 550, osl: 128 }).",
  },
  {
    name: "a mix of one",
    fields: ['target: mix([{ name: "a", target: embedded() }])', "load: hold(4)"],
    says: '4:3, target: must have two targets or more (got [{"name":"a","target":{"kind":"embedded","url":"","options":{}}}]). Add a target<*>',
  },
  {
    name: "a weight as a share",
    fields: [
      'target: mix([{ name: "a", target: embedded(), weight: "50 %" }, { name: "b", target: embedded() }])',
      "load: hold(4)",
    ],
    says: '4:49, target[0].weight: must be a number (got "50 %"). Write 50, without quotes.',
  },
  {
    name: "a misspelt field of a member",
    fields: [
      'target: mix([{ name: "a", target: embedded(), wieght: 3 }, { name: "b", target: embedded() }])',
      "load: hold(4)",
    ],
    says: "4:49, target[0].wieght: is not an option here. Did you mean weight?",
  },
  {
    name: "a misspelt target with a load of its own",
    fields: [
      'target: mix([{ name: "a", target: embedded() }, { name: "b", target: embedded() }])',
      "load: perTarget({ a: hold(4), c: hold(4) })",
    ],
    says: [
      "5:3, load.b: this target has no load. Give it one in perTarget(…).",
      "5:33, load.c: is not a target. The targets are a, b.",
    ],
  },
  {
    name: "a target without a load of its own",
    fields: [
      'target: mix([{ name: "a", target: embedded() }, { name: "b", target: embedded() }])',
      "load: perTarget({ a: hold(4) })",
    ],
    says: "5:3, load.b: this target has no load. Give it one in perTarget(…).",
  },
  {
    name: "a load of its own for what is no target",
    fields: [
      'target: mix([{ name: "a", target: embedded() }, { name: "b", target: embedded() }])',
      "load: perTarget({ a: hold(4), b: hold(4), c: hold(4) })",
    ],
    says: "5:45, load.c: is not a target. The targets are a, b.",
  },
  {
    name: "loads of their own for one target",
    fields: ["target: embedded()", "load: perTarget({ a: hold(4) })"],
    says: "5:3, load: perTarget(…) needs several targets. Use mix([…]) as the target.",
  },
  {
    name: "a load of its own for more targets than can run at the same time",
    fields: [
      'target: mix(Array.from({ length: 101 }, (_, index) => ({ name: "t" + index, target: embedded() })))',
      "load: perTarget({ t0: hold(4) })",
    ],
    says: "4:3, target: has 101 targets with loads of their own, more than 100. Write fewer, or several scenarios.",
  },
  {
    name: "a prompt for the options of prompts",
    fields: ['target: openai("localhost:8000", { model: "m" })', 'inputs: input.prompts("Hello")', "load: hold(4)"],
    says: '5:3, inputs: needs an object of options (got "Hello"). Write { isl: 550 } or { file: "x.jsonl" }, or input.generate(() => ({ prompt: "…" })).',
  },
  {
    name: "prompts for the options of prompts",
    fields: [
      'target: openai("localhost:8000", { model: "m" })',
      'inputs: input.prompts(["Hello", "World"])',
      "load: hold(4)",
    ],
    says: '5:3, inputs: needs an object of options (got ["Hello","World"]). Write { isl: 550 } or { file: "x.jsonl" }, or <*>',
  },
  {
    name: "the path of an endpoint",
    fields: [
      'target: openai("localhost:8000", { model: "m", endpoint: "/v1/chat/completions" })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
    ],
    says: '4:50, target.endpoint: must be one of chat, <*> (got "/v1/chat/completions"). Write path: "/v1/chat/completions".',
  },
  {
    name: "two members of one name",
    fields: ['target: mix([{ name: "a", target: embedded() }, { name: "a", target: embedded() }])', "load: hold(4)"],
    says: "4:53, target[1].name: is also the name of member 0 (got a). Give each member a name of its own.",
    compiles: "names of members are not compared",
  },
  {
    name: "shares that are not 100 % together",
    fields: [
      'target: openai("localhost:8000", { model: "m", streaming: true })',
      'inputs: input.prompts({ lengths: [{ isl: 10, osl: 4, share: "50 %" }, { isl: 20, osl: 4, share: "40 %" }] })',
      "load: hold(4)",
    ],
    says: '5:27, inputs.lengths: must have shares that add up to 100 % (got [{"isl":10,"osl":4,"share":"50 %"},{"isl":20,"osl":4,"share":"40 %"}]). Change <*> 90 %.',
    compiles: "texts are not added up",
  },
  {
    name: "shares without their sign",
    fields: [
      'target: openai("localhost:8000", { model: "m", streaming: true })',
      "inputs: input.prompts({ lengths: [{ isl: 10, osl: 4, share: 50 }, { isl: 20, osl: 4, share: 50 }] })",
      "load: hold(4)",
    ],
    says: [
      '5:56, inputs.lengths[0].share: must be a percentage with its sign, such as "1 %" (got 50). Write "50 %".',
      '5:88, inputs.lengths[1].share: must be a percentage with its sign, such as "1 %" (got 50). Write "50 %".',
    ],
  },
  {
    name: "an option of OpenAI in an input of a function",
    fields: [
      "target: embeddedLlm()",
      'inputs: input.generate(() => ({ prompt: "a", max_tokens: 4 }))',
      "load: hold(1, { requests: 1 })",
    ],
  },
  {
    name: "a tag for tags in an input of a generator",
    fields: [
      "target: embedded()",
      "inputs: input.generate(function* () { yield { tensors: { INPUT0: new Int32Array(16), INPUT1: new Int32Array(16) }, tag: { a: 1 } } })",
      "load: hold(1, { requests: 1 })",
    ],
  },
  {
    name: "a length in quotes",
    fields: [
      'target: openai("localhost:8000", { model: "m" })',
      'inputs: input.prompts({ isl: "550" })',
      "load: hold(4)",
    ],
    says: '5:27, inputs.isl: must be tokens from 1 to 10000000, or { mean, stddev } (got "550"). Write 550, without quotes.',
  },
  {
    name: "a key in the scenario",
    fields: [
      'target: openai("localhost:8000", { model: "m", apiKey: "sk-123" })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
    ],
    says: '4:50, target.apiKey: is not an option here. Write apiKeyEnv: "NAME", the environment variable that holds it.',
  },
  {
    name: "the address as an option",
    fields: ['target: triton({ url: "localhost:8000", model: "simple" })', "load: hold(4)"],
    says: '4:20, target.url: must be host:port or a URL (got {"url":"localhost:8000","model":"simple"}). Write the address first: triton("localhost:8000", { model: "NAME" }).',
  },
  {
    name: "a language model without an address",
    fields: ['target: openai({ model: "m" })', "load: hold(4)", "inputs: input.prompts({ isl: 20 })"],
    says: '4:3, target.url: must be host:port or a URL (got {"model":"m"}). Write the address first: openai("localhost:8000", { model: "NAME" }).',
  },
  {
    name: "a target without options",
    fields: ['target: triton("localhost:8000")', "load: hold(4)"],
    says: "4:3, target: needs an object of options (got nothing). Write { model: … }.",
  },
  {
    name: "a model's name instead of options",
    fields: ['target: triton("localhost:8000", "simple")', "load: hold(4)"],
    says: '4:3, target: needs an object of options (got "simple"). Write { model: … }.',
  },
  {
    name: "an address for a target",
    fields: ['target: "localhost:8000"', "load: hold(4)"],
    says: '4:3, target: must be <*>triton(…), <*> (got "localhost:8000"). Write triton("localhost:8000", { model: "NAME" }).',
  },
  {
    name: "a builder that is not called",
    fields: ["target: embedded", "load: hold(4)"],
    says: "4:3, target: is a function that is not called. Write embedded(…).",
    compiles: "a field can be a function",
  },
  {
    name: "GenAI-Perf's name of the endpoint",
    fields: [
      'target: openai("localhost:8000", { model: "m", endpointType: "chat" })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
    ],
    says: '4:50, target.endpointType: is not an option here. Write endpoint: "chat".',
  },
  {
    name: "true in quotes",
    fields: [
      'target: openai("localhost:8000", { model: "m", streaming: "true" })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
    ],
    says: '4:50, target.streaming: must be true or false (got "true"). Write true.',
  },
  {
    // "expect" is also a name that other tools have for assertions.
    name: "a header that frames the message",
    fields: ['target: http("localhost:8000", { headers: { Expect: "100-continue" } })', "load: hold(4)"],
    compiles: "names of headers are any text",
    says: '4:<*>, target.headers: the client itself sets Expect (got {"Expect":"100-continue"}). Leave it out.',
  },
  {
    name: "a stream over HTTP",
    fields: ['target: triton("localhost:8000", { model: "m", streaming: true })', "load: hold(4)"],
    says: '4:50, target.streaming: needs protocol: "grpc" (got true). Add protocol: "grpc", or leave it out.',
  },
  {
    name: "a protocol in the wrong case",
    fields: ['target: triton("localhost:8001", { protocol: "GRPC", model: "m" })', "load: hold(4)"],
    says: '4:38, target.protocol: must be "http" or "grpc" (got "GRPC"). Did you mean "grpc"?',
  },
  {
    name: "perf_analyzer's name of the model",
    fields: ['target: triton("localhost:8000", { modelName: "m" })', "load: hold(4)"],
    says: "4:38, target.modelName: is not an option here. Write model.",
  },
  {
    name: "perf_analyzer's name of the batch size",
    fields: ['target: triton("localhost:8000", { model: "m", batch: 8 })', "load: hold(4)"],
    says: "4:50, target.batch: is not an option here. Write batchSize: 8.",
  },
  {
    name: "shapes of perf_analyzer",
    fields: ['target: triton("localhost:8000", { model: "m", shapes: ["IN:3,224"] })', "load: hold(4)"],
    says: '4:59, target.shapes[0]: must be a list of sizes (got "IN:3,224"). Put it in brackets: [ … ].',
  },
  {
    name: "shared memory of perf_analyzer",
    fields: ['target: triton("localhost:8000", { model: "m", sharedMemory: "none" })', "load: hold(4)"],
    says: '4:50, target.sharedMemory: must be "system" or "cuda" (got "none"). Leave it out.',
  },
  {
    name: "an option of curl",
    fields: ['target: triton("localhost:8000", { model: "m", tls: { insecure: true } })', "load: hold(4)"],
    says: '4:50, target.tls: must be true, false or { ca, cert, key, certType, keyType, verify } (got {"insecure":true}). Write verify: false.',
  },
  {
    name: "a client that is none",
    fields: ["target: embedded()", "load: hold(4)", 'client: "fetch"'],
    says: '6:3, client: must be "own", "undici" or "grpc-js" (got "fetch").',
  },
  {
    name: "a client of another protocol",
    fields: ["target: embedded()", "load: hold(4)", 'client: "grpc-js"'],
    says: "6:3, client: grpc-js speaks gRPC only, and the target HTTP (got grpc-js). Use own or undici.",
  },
  {
    name: "a bare number of milliseconds",
    fields: ["target: embedded({ latency: 5 })", "load: hold(4)"],
    says: '4:22, target.latency: must be a duration of 10 min at most such as "5 ms", or "uniform:1ms:9ms", "normal:5ms:1ms" or "exponential:5ms" (got 5). Add the unit: "5 s" or "5 ms".',
  },
  {
    name: "the name of inputs",
    fields: ["target: embedded()", "load: hold(4)", 'inputs: "random"'],
    says: '6:3, inputs: must be input.random(), <*> or input.generate(…) (got "random"). Write input.random(…).',
  },
  {
    name: "files in a list",
    fields: ["target: embedded()", "load: hold(4)", 'inputs: input.json(["a.json"])'],
    says: '6:23, inputs.files[0]: must be a file (got ["a.json"]). Write each file as an argument, without brackets.',
  },
  {
    name: "tensors instead of inputs",
    fields: ["target: embedded()", "load: hold(4)", "inputs: { INPUT0: [1, 2] }"],
    says: '6:3, inputs: must be input.random(), <*> or input.generate(…) (got {"INPUT0":[1,2]}). Write input.generate(() => ({ tensors: { NAME: […] } })), or another of them.',
  },
  {
    name: "AIPerf's spread of lengths",
    fields: [
      'target: openai("localhost:8000", { model: "m" })',
      "inputs: input.prompts({ isl: 100, islStddev: 10 })",
      "load: hold(4)",
    ],
    says: "5:37, inputs.islStddev: is not an option here. Write isl: { mean: 550, stddev: 50 }.",
  },
  {
    name: "a share as a ratio",
    fields: ["target: embedded()", "load: hold(4)", "cancel: { share: 0.05 }"],
    says: '6:13, cancel.share: must be a percentage with its sign, such as "1 %" (got 0.05). Write "5 %".',
  },
  {
    name: "conversations of tensors",
    fields: ["target: embedded()", "load: sessions(4)"],
    says: "5:3, load: needs payloads with session ids, or prompts with sessions. Use such inputs, or another load.",
    compiles: "payloads of any target can have session ids",
  },
  {
    name: "tags of an input of another type",
    fields: [
      "target: embedded()",
      "load: hold(4)",
      "tags: ({ index }: { index: string }) => ({ length: index.toUpperCase() })",
    ],
  },
];
