import type { WrongScenario } from "./wrong-scenario.ts";

const fieldsOf = (chain: string, target = 'http("localhost:8000")'): string[] => [
  `target: ${target}`,
  "load: sessions(4)",
  // From line 6: an argument without a name.
  `inputs: input.chain(${chain.replaceAll("{ path", "\n{ path")})`,
];

const LOGIN = '{ path: "/login", body: { user: "a" }, extract: { token: "token" } }';

/** Chains of requests. */
export const CHAINS: readonly WrongScenario[] = [
  {
    name: "a misspelt value in a path",
    fields: fieldsOf(`[${LOGIN}, { path: "/call/{{tokn}}" }]`),
    says: "8:3, inputs.calls[1].path: needs {{tokn}}, which no call before it extracts. Write {{token}}.",
  },
  {
    name: "a misspelt value in a header",
    fields: fieldsOf(`[${LOGIN}, { path: "/call", headers: { Authorization: "Bearer {{Token}}" } }]`),
    says: "8:18, inputs.calls[1].headers: needs {{Token}}, which no call before it extracts. Write {{token}}.",
  },
  {
    name: "a misspelt value deep in a body",
    fields: fieldsOf(`[${LOGIN}, { path: "/call", body: { a: [{ b: "x {{ tokens }}" }] } }]`),
    says: "8:18, inputs.calls[1].body: needs {{tokens}}, which no call before it extracts. Write {{token}}.",
  },
  {
    name: "a value that only a later call extracts",
    fields: fieldsOf(`[{ path: "/call/{{token}}" }, ${LOGIN}]`),
    says: '7:3, inputs.calls[0].path: needs {{token}}, which no call before it extracts. Write extract: { token: "…" } in a call before it.',
  },
  {
    name: "a value that users do not have",
    fields: fieldsOf('[{ path: "/call/{{name}}" }], { users: [{ user: "a" }] }'),
    says: '7:3, inputs.calls[0].path: needs {{name}}, which no call before it extracts. Write extract: { name: "…" } in a call before it.',
  },
  {
    name: "a field of k6 in a call",
    fields: fieldsOf('[{ url: "/call" }]'),
    says: "6:<*>, inputs.calls[0].url: <*>",
  },
  {
    name: "a place of a value that is none",
    fields: fieldsOf('[{ path: "/login", extract: { token: { body: "token" } } }]'),
    says: '7:30, inputs.calls[0].extract.token: must be a JMESPath expression (jmespath.org), { header: "Location" } or { cookie: "sid" } (got <*>).',
  },
  {
    name: "a chain to a language model's target",
    fields: fieldsOf('[{ path: "/call" }]', 'openai("localhost:8000", { model: "m" })'),
    says: '6:<*>, inputs: input.chain(…) is for the target http(…) (got openai(…)). Use http("HOST:PORT") as the target: it sends any request to any HTTP server.',
  },
  {
    name: "a chain with a load of single requests",
    fields: ['target: http("localhost:8000")', "load: hold(4)", `inputs: input.chain([${LOGIN}])`],
    says: '5:<*>, load: the inputs are a chain of requests, which needs a load of users who send it. Use sessions(8, { for: "30 s" }), <*>',
    compiles: "the types of loads know nothing of inputs",
  },
];
