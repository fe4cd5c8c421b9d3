import type { Section } from "./statement.ts";

/** Document 05: service kinds of perf_analyzer. What document 03 says too is tried there. */

const OPENAI = "perf_analyzer -m llama -u {http} --service-kind=openai";
const DYNAMIC = "perf_analyzer --service-kind=dynamic_grpc -u={grpc} --grpc-method=v1.Simple/Echo";

export const KINDS: Section = {
  title: "05: service kinds",
  statements: [
    {
      says: "Triton over HTTP is the default",
      run: "perf_analyzer -m simple -u {simple} --request-count 1",
      out: /Service Kind: TRITON\n/,
    },
    {
      says: "`openai` posts the payloads of `--input-data` to `--endpoint`",
      run: `${OPENAI} --endpoint=v1/chat/completions --async --input-data={dir}/openai.json --request-count 2`,
      out: /^ Successfully read data for 1 stream\/streams with 1 step\/steps\.\n[\s\S]*Service Kind: OPENAI\n[\s\S]*Using asynchronous calls/,
      seen: /POST \/v1\/chat\/completions [^\n]*Who wrote it\?/,
      sent: 2,
    },
    {
      says: "`openai` stabilises by `average throughput`",
      run: `${OPENAI} --endpoint=v1/chat/completions --async --input-data={dir}/openai.json -p 40 -s 1000000`,
      out: /Stabilizing using average throughput\n/,
    },
    {
      says: "`openai` reports HTTP times and no server",
      run: `${OPENAI} --endpoint=v1/chat/completions --async --input-data={dir}/openai.json --request-count 2`,
      out: /Avg HTTP time: (?:(?!Server:)[\s\S])*$/,
    },
    {
      says: "`openai` without a scheme in `-u`, or with one",
      run: "perf_analyzer -m llama -u http://{http} --service-kind=openai --endpoint=v1/chat/completions --async --input-data={dir}/openai.json --request-count 1",
      sent: 1,
    },
    {
      says: "`openai` needs `--endpoint`",
      run: `${OPENAI} --async --input-data={dir}/openai.json`,
      refused: "Must supply --endpoint for OpenAI service kind.",
    },
    {
      says: "`openai` needs payloads",
      run: `${OPENAI} --endpoint=v1/chat/completions --async`,
      refused: "Must supply --input-data for OpenAI service kind.",
    },
    {
      says: "an entry has a list with one payload",
      run: `${OPENAI} --endpoint=v1/chat/completions --async --input-data={dir}/two-payloads.json`,
      refused: "JSON format does not yet support multiple json objects in the input",
    },
    {
      says: "several entries are sent in turn",
      run: `${OPENAI} --endpoint=v1/chat/completions --async --input-data={dir}/two-openai.json --request-count 2`,
      seen: /first[\s\S]*second/,
    },
    {
      says: "`data` may have several streams",
      run: `${OPENAI} --endpoint=v1/chat/completions --async --input-data={dir}/openai-streams.json --request-count 2`,
      seen: /first stream[\s\S]*first stream/,
      err: /stream/,
      differs:
        "the original reads them with `openai` and `dynamic_grpc`, and sends the first only; so does Rampart, and says so",
    },
    {
      says: "a payload may stream",
      run: `${OPENAI} --endpoint=v1/chat/completions --async --input-data={dir}/stream-openai.json --request-count 1 --profile-export-file {out}/p.json`,
      files: { "p.json": /\[DONE\]/ },
    },
    {
      says: "`triton_c_api` prints `Service Kind: Triton C-API`",
      shownBy: "e2e/in-process.test.ts: Service Kind: Triton C-API",
    },
    {
      says: "`triton_c_api` has no `--async`",
      differs: "Rampart measures",
      shownBy: "e2e/in-process.test.ts: asynchronous calls",
    },
    {
      says: "`triton_c_api` reports the server's side, and no HTTP or gRPC times",
      shownBy: "e2e/in-process.test.ts: HTTP time|gRPC time",
    },
    {
      says: "`dynamic_grpc` runs `message_generator` and sends its messages to `--grpc-method`",
      run: `${DYNAMIC} --input-data={dir}/generator.json --request-count 2`,
      out: /^ Successfully read data for 1 stream\/streams with 1 step\/steps\.\n[\s\S]*Service Kind: DYNAMIC_GRPC\n[\s\S]*Avg gRPC time/,
    },
    {
      says: "`dynamic_grpc` stabilises by latency and throughput, with synchronous calls",
      run: `${DYNAMIC} --input-data={dir}/generator.json -p 40 -s 1000000`,
      out: /Stabilizing using average latency and throughput\n[\s\S]*Using synchronous calls for inference/,
    },
    {
      says: "`dynamic_grpc` has no `-m`",
      run: `${DYNAMIC} --input-data={dir}/generator.json --request-count 1`,
      out: /Request concurrency: 1/,
    },
    {
      says: "`dynamic_grpc` has no asynchronous calls",
      run: `${DYNAMIC} --input-data={dir}/generator.json --async --request-count 1`,
      differs:
        "the original refuses `--async` (`Dynamic gRPC client only supports synchronous RPCs at the moment.`); Rampart measures",
      out: /Using asynchronous calls/,
    },
    {
      says: "`dynamic_grpc` needs `--grpc-method`",
      run: "perf_analyzer --service-kind=dynamic_grpc -u={grpc} --input-data={dir}/generator.json",
      refused: "Must supply --grpc-method for dynamic gRPC service kind.",
    },
    {
      says: "each message has its length before it, 4 bytes in the machine's order",
      run: `${DYNAMIC} --input-data={dir}/cut-generator.json --request-count 1`,
      refused: "ended early: message 1 has 5 of 11 bytes",
    },
    {
      says: "messages of one run are one bidirectional call",
      run: `${DYNAMIC} --input-data={dir}/generator.json --request-count 1 --profile-export-file {out}/p.json`,
      files: { "p.json": /"response_timestamps":\[\d+,\d+\]/ },
      shownBy: "transcript b2-dyn-bidi",
    },
  ],
};
