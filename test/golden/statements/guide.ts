import type { Section } from "./statement.ts";

/** Document 03: the guide of perf_analyzer. */

const S = "perf_analyzer -m simple -u {simple}";
const G = "perf_analyzer -m simple -u {grpcSimple} -i grpc";
const GRID = "perf_analyzer -m simple -u {grid}";
const SEQUENCE = "perf_analyzer -m simple -u {sequence}";
const QUICK = "-p 40 -s 1000000";

export const OUTPUT: Section = {
  title: "03: what it prints",
  statements: [
    {
      says: "the settings begin with `*** Measurement Settings ***` and the batch size",
      run: `${S} ${QUICK}`,
      out: /^\*\*\* Measurement Settings \*\*\*\n {2}Batch size: 1\n/,
    },
    { says: "a line with the length of the window", run: `${S} ${QUICK}`, out: / {2}Measurement window: 40 msec\n/ },
    {
      says: "`Concurrency limit: 4 concurrent requests` for a range",
      run: `${S} --concurrency-range 1:4 ${QUICK}`,
      out: / {2}Concurrency limit: 4 concurrent requests\n/,
    },
    {
      says: "`Latency limit: 0 msec` for a range",
      run: `${S} --concurrency-range 1:2 ${QUICK}`,
      out: / {2}Latency limit: 0 msec\n/,
    },
    {
      says: "a part for each level: count, throughput, average with deviation, p50 to p99, HTTP time",
      run: `${S} ${QUICK}`,
      out: /Request concurrency: 1\n {2}Client: \n {4}Request count: \d+\n {4}Throughput: [\d.]+ infer\/sec\n {4}Avg latency: \d+ usec \(standard deviation \d+ usec\)\n {4}p50 latency: \d+ usec\n {4}p90 latency: \d+ usec\n {4}p95 latency: \d+ usec\n {4}p99 latency: \d+ usec\n {4}Avg HTTP time: \d+ usec \(send\/recv \d+ usec \+ response wait \d+ usec\)\n/,
    },
    {
      says: "with `--percentile=95` there is no average latency",
      run: `${S} --percentile=95 ${QUICK}`,
      out: /Throughput: [^\n]*\n {4}p50 latency/,
    },
    {
      says: "the server's part: inferences, executions, requests, and the average with its components",
      run: `${S} ${QUICK}`,
      out: / {2}Server: \n {4}Inference count: \d+\n {4}Execution count: \d+\n {4}Successful request count: \d+\n {4}Avg request latency: \d+ usec \(overhead \d+ usec \+ queue \d+ usec \+ compute input \d+ usec \+ compute infer \d+ usec \+ compute output \d+ usec\)\n/,
    },
    {
      says: "over gRPC marshalling is shown apart from the response wait",
      run: `${G} ${QUICK}`,
      out: /Avg gRPC time: \d+ usec \(\(un\)marshal request\/response \d+ usec \+ response wait \d+ usec\)/,
    },
    {
      says: "a summary of one line per level at the end",
      run: `${S} --concurrency-range 1:2 ${QUICK}`,
      out: /\nInferences\/Second vs\. Client Average Batch Latency\nConcurrency: 1, throughput: [\d.]+ infer\/sec, latency \d+ usec\nConcurrency: 2, throughput: [\d.]+ infer\/sec, latency \d+ usec\n$/,
    },
    {
      says: "the summary names the percentile",
      run: `${S} --percentile=95 ${QUICK}`,
      out: /Inferences\/Second vs\. Client p95 Batch Latency\n/,
    },
    {
      says: "by default one request is outstanding",
      run: `${S} --request-count 3`,
      out: /Request concurrency: 1\n/,
      sent: 3,
    },
    {
      says: "`-v` shows the passes of each level",
      run: `${S} -v ${QUICK}`,
      out: /Pass \[1\] throughput: [^\n]*\n[\s\S]*Pass \[3\]/,
    },
    {
      says: "the CSV has one column per component and p50 to p99",
      run: `${S} -f {out}/perf.csv --request-count 4`,
      files: {
        "perf.csv":
          /^Concurrency,Inferences\/Second,Client Send,Network\+Server Send\/Recv,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency\n1,/,
      },
    },
    {
      says: "the rows of the CSV are in order of throughput",
      run: `${S} --concurrency-range 1:3 ${QUICK} -f {out}/perf.csv`,
      files: { "perf.csv": /^(?:.*\n){4}/ },
      shownBy: "transcript 05-concurrency-1-8-2-csv",
    },
    {
      says: "`--help` lists all options",
      run: "perf_analyzer --help",
      out: /--concurrency-range[\s\S]*--ssl-https-private-key-type/,
      differs:
        "the original refuses `--help` as an unknown option, and prints its usage; Rampart prints its help, exit code 0",
      shownBy: "transcript e02-help",
    },
  ],
};

export const REAL_DATA: Section = {
  title: "03: input data and its validation",
  statements: [
    {
      says: "random data for every input by default",
      run: `${S} --request-count 1`,
      shownBy: "transcript 35-input-random",
      sent: 1,
    },
    {
      says: "`-b 4 --shape IMAGE:3,224,224` sends [4, 3, 224, 224]",
      run: "perf_analyzer -m simple -u {image} -b 4 --shape IMAGE:3,224,224 --request-count 1",
      seen: /"shape":\[4,3,224,224\]/,
    },
    {
      says: "an input of variable size needs `--shape`",
      run: "perf_analyzer -m simple -u {image} --request-count 1",
      refused: "input IMAGE contains dynamic shape, provide shapes to send along with the request",
    },
    {
      says: "entries are sent in turn",
      run: `${S} --input-data {dir}/four.json --request-count 5`,
      seen: /A\0\0\0B[\s\S]*B\0\0\0C[\s\S]*C\0\0\0D[\s\S]*D\0\0\0E[\s\S]*A\0\0\0B/,
    },
    {
      says: "an entry has data for every input",
      run: `${S} --input-data {dir}/missing.json --request-count 1`,
      refused: "data[0]: missing tensor INPUT1",
    },
    {
      says: "data has exactly the size of the input",
      run: `${S} --input-data {dir}/short.json --request-count 1`,
      refused: "mismatch in the data provided for INPUT0. Expected: 64 bytes, Got: 12 bytes",
    },
    {
      says: "`Successfully read data for 1 stream/streams with 4 step/steps.`",
      run: `${S} --input-data {dir}/four.json --request-count 1`,
      out: /^ Successfully read data for 1 stream\/streams with 4 step\/steps\.\n/,
    },
    {
      says: "`b64` has the bytes, little-endian",
      run: `${S} --input-data {dir}/b64.json --request-count 1`,
      seen: /A\0\0\0B\0\0\0C/,
    },
    {
      says: "one data stream per sequence: lengths 4, 3 and 2",
      run: `${SEQUENCE} --input-data {dir}/streams.json --request-count 9 --concurrency-range 1`,
      out: /^ Successfully read data for 3 stream\/streams\.\n/,
      seen: /a1[\s\S]*a2[\s\S]*a3[\s\S]*"sequence_end":true[\s\S]*a4[\s\S]*b1[\s\S]*b3[\s\S]*c1[\s\S]*c2/,
    },
    {
      says: "the steps of a stream have one correlation id",
      run: `${SEQUENCE} --input-data {dir}/streams.json --request-count 4 --sequence-id-range 7`,
      seen: /(?:"sequence_id":7\b[\s\S]*){4}/,
    },
    {
      says: "`content` and `shape` give data and size",
      run: `${GRID} --input-data {dir}/all-shapes.json --request-count 2`,
      seen: /"shape":\[2,8\][\s\S]*"shape":\[4,4\]/,
    },
    {
      says: "an entry without `shape` has that of `--shape`; others beat it",
      run: `${GRID} --input-data {dir}/shapes.json --shape INPUT:1,16 --request-count 4`,
      seen: /"shape":\[2,8\][\s\S]*"shape":\[8,2\][\s\S]*"shape":\[1,16\][\s\S]*"shape":\[4,4\]/,
    },
    {
      says: "an entry without `shape` needs `--shape`",
      run: `${GRID} --input-data {dir}/shapes.json --request-count 4`,
      refused: "INPUT",
    },
    {
      says: "`content` may be `b64`, with `shape`",
      run: `${GRID} --input-data {dir}/shapes-b64.json --request-count 1`,
      seen: /"shape":\[2,3\]/,
    },
    {
      says: "strings in `b64` have their length before them, in 4 bytes",
      run: "perf_analyzer -m simple -u {text} --input-data {dir}/text-b64.json --request-count 1",
      seen: /\x03\0\0\0one\x03\0\0\0two/,
    },
    {
      says: "`validation_data` is compared with the outputs",
      run: `perf_analyzer -m simple -u {http} --input-data {dir}/valid.json --request-count 2`,
      sent: 2,
    },
    {
      says: "outputs that differ are errors",
      run: `perf_analyzer -m simple -u {http} --input-data {dir}/invalid.json --request-count 2`,
      refused: "Output doesn't match expected output",
    },
    {
      says: "`validation_data` takes `b64` and `content` with `shape`",
      run: `perf_analyzer -m simple -u {http} --input-data {dir}/valid-b64.json --request-count 2`,
      sent: 2,
    },
    {
      says: "`validation_data` has as many entries as `data`",
      run: `perf_analyzer -m simple -u {http} --input-data {dir}/unaligned.json --request-count 2`,
      refused: "The 'validation_data' field doesn't align with 'data' field in the json file",
    },
    {
      says: "explicit values of every type",
      differs: "the original refuses FP16 and BF16 as numbers, and so does Rampart; scenarios take them",
      shownBy: "transcript tfserving-w-alltypes-json",
    },
  ],
};

export const TRANSPORT: Section = {
  title: "03: shared memory, protocols, TLS, C API, other servers",
  statements: [
    {
      says: "`--shared-memory=system` keeps tensors out of the requests",
      run: `${S} --shared-memory=system --request-count 1`,
      seen: /"shared_memory_region"/,
    },
    {
      says: "`--shared-memory=cuda`",
      shownBy:
        "service/triton/shared-memory.test.ts: --shared-memory cuda without CUDA's library is an error that names it",
    },
    {
      says: "HTTP is the default protocol; `-i` selects gRPC",
      run: `${G} --request-count 1`,
      seen: /gRPC \/inference\.GRPCInferenceService\/ModelInfer/,
    },
    {
      says: "`--ssl-https-…` has no effect on a server without TLS",
      run: `${S} --ssl-https-verify-peer 1 --ssl-https-verify-host 2 --request-count 1`,
      sent: 1,
    },
    {
      says: "an https proxy in front of Triton",
      shownBy:
        "cli/perf-analyzer/effects-tls.test.ts: over https the authorities and the server's name are checked separately, like in curl: --ssl-https-verify-* and --ssl-https-ca-*",
    },
    {
      says: "`--service-kind=triton_c_api` measures without a server",
      shownBy:
        "service/triton-c-api/perf-analyzer.test.ts: --triton-server-directory and --model-repository say what --service-kind triton_c_api loads",
    },
    {
      says: "the C API has no asynchronous mode",
      differs: "Rampart measures",
      shownBy: "e2e/in-process.test.ts: asynchronous calls",
    },
    {
      says: "the C API has no shared memory",
      differs: "Rampart measures with `system`",
      shownBy: "e2e/in-process-runtimes.test.ts: shared-memory",
    },
    {
      says: "the C API has no request rates",
      differs: "Rampart measures",
      shownBy: "e2e/in-process.test.ts: a request rate",
    },
    {
      says: "`tfserving` over gRPC",
      run: "perf_analyzer -m simple --service-kind tfserving -i grpc -b 1 -u {grpc} --shape INPUT0:1,16 --shape INPUT1:1,16 --request-count 2",
      out: /Avg gRPC time/,
      shownBy: "transcript tfserving-windows",
    },
    {
      says: "`tfserving` is for gRPC only",
      run: "perf_analyzer -m simple --service-kind tfserving -u {http}",
      refused: "perf_analyzer supports only grpc protocol for TensorFlow Serving.",
    },
    {
      says: "`tfserving` reports the client's side only",
      run: "perf_analyzer -m simple --service-kind tfserving -i grpc -u {grpc} --shape INPUT0:1,16 --shape INPUT1:1,16 --request-count 2",
      out: /Client: (?:(?!Server:)[\s\S])*$/,
    },
    {
      says: "`torchserve` over HTTP with a JSON file",
      run: "perf_analyzer -m simple --service-kind torchserve -i http -u {http} -b 1 --input-data {dir}/torchserve.json --request-count 2",
      out: /^ Successfully read data for 1 stream\/streams with 1 step\/steps\.\n[\s\S]*Avg HTTP time/,
      sent: 2,
    },
    {
      says: "`torchserve` is for HTTP only",
      run: "perf_analyzer -m simple --service-kind torchserve -i grpc -u {http} --input-data {dir}/torchserve.json",
      refused: "perf_analyzer does not support gRPC protocol with TorchServe",
    },
    {
      says: "`torchserve` reports the client's side only",
      run: "perf_analyzer -m simple --service-kind torchserve -u {http} --input-data {dir}/torchserve.json --request-count 2",
      out: /Client: (?:(?!Server:)[\s\S])*$/,
    },
    {
      says: "a file of `torchserve` is found from the working directory",
      run: "perf_analyzer -m simple --service-kind torchserve -u {http} --input-data test/golden/inputs/torchserve_missing.json --request-count 1",
      refused: "Failed to open the specified file `data/nosuchfile`",
    },
  ],
};
