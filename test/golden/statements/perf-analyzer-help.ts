import type { Section } from "./statement.ts";

/** Document 01: the help of perf_analyzer. */

const S = "perf_analyzer -m simple -u {simple}";
const G = "perf_analyzer -m simple -u {grpcSimple} -i grpc";
const SEQUENCE = "perf_analyzer -m simple -u {sequence}";
const QUICK = "-p 40 -s 1000000";
const PLAN = "perf_analyzer -m simple";

export const GENERAL: Section = {
  title: "01: the help's examples, and which model",
  statements: [
    {
      says: "an example with one level of 50 and two `--shape`",
      run: `perf_analyzer -m simple -u {http} --concurrency-range 50:50 --shape INPUT0:16 --shape INPUT1:16 --measurement-interval 40 -s 1000000`,
      out: /Request concurrency: 50\n[\s\S]*Concurrency: 50, throughput: [\d.]+ infer\/sec, latency \d+ usec\n$/,
    },
    { says: "`--version` prints the version", run: "perf_analyzer --version", err: /^Perf Analyzer Version \d+\.\d+/ },
    { says: "`--service-kind` is `triton` by default", run: `${S} --request-count 1`, out: /Service Kind: TRITON/ },
    { says: "`--service-kind` takes `triton`", run: `${S} --service-kind triton --request-count 1`, sent: 1 },
    {
      says: "no other kinds than those listed",
      run: `${PLAN} --service-kind kserve`,
      refused: "Failed to parse --service-kind. Unsupported type provided: 'kserve'.",
    },
    {
      says: "`torchserve` needs a JSON file in `--input-data`",
      run: `${PLAN} --service-kind torchserve`,
      refused: "--input-data should be provided with a json file with input data for torchserve",
    },
    {
      says: "`torchserve` reads files named in `TORCHSERVE_INPUT`",
      run: `perf_analyzer -m simple -u {http} --service-kind torchserve --input-data {dir}/torchserve.json --request-count 2`,
      seen: /POST \/predictions\/simple [\s\S]*a picture/,
      sent: 2,
    },
    {
      says: "`triton_c_api` needs `--model-repository`",
      run: `${PLAN} --service-kind triton_c_api --triton-server-directory {dir}`,
      refused: "--model-repository should not be empty when using service-kind=triton_c_api.",
    },
    {
      says: "`triton_c_api` needs `--triton-server-directory`",
      differs: "the original takes `/opt/tritonserver` without it, and so does Rampart",
      shownBy: "service/triton-c-api/perf-analyzer.test.ts: Triton's directory has perf_analyzer's default",
    },
    {
      says: "`-m` is required",
      run: "perf_analyzer -u {simple}",
      refused: "Failed to parse -m (model name). The value must be specified.",
    },
    {
      says: "`-x` selects a version",
      run: `${S} -x 1 --request-count 1`,
      seen: /POST \/v2\/models\/simple\/versions\/1\/infer/,
    },
    {
      says: "without `-x` the server selects the version",
      run: `${S} --request-count 1`,
      seen: /POST \/v2\/models\/simple\/infer/,
    },
    {
      says: "`--model-signature-name` has an effect with `tfserving` only",
      run: `${S} --model-signature-name other --request-count 1`,
      sent: 1,
    },
    {
      says: "`--model-signature-name` is `serving_default` by default",
      run: `${PLAN} --service-kind tfserving -i grpc --dry-run`,
      out: /"serving_default"/,
      shownBy:
        "service/tfserving/perf-analyzer.test.ts: --model-signature-name and -x are in the metadata's query and in every request",
    },
    { says: "`-v` is more verbose", run: `${S} -v --request-count 1`, out: /Pass \[1\] throughput/ },
    {
      says: "`-v -v` is still more verbose",
      run: `${S} -v -v --request-count 1`,
      seen: /infer/,
      shownBy:
        "cli/perf-analyzer/effects-output.test.ts: -v prints windows as they come, -v -v requests and responses too",
    },
    {
      says: "`--bls-composing-models` takes names with versions, separated by commas",
      run: `${PLAN} --bls-composing-models modelA:3,modelB --dry-run`,
      out: /"composingModels": \[\s*\{\s*"name": "modelA",\s*"version": "3"\s*\},\s*\{\s*"name": "modelB"/,
      shownBy: "transcript 79-bls",
    },
  ],
};

export const MEASUREMENT: Section = {
  title: "01: I. measurement",
  statements: [
    {
      says: "calls are synchronous by default",
      run: `${S} --request-count 1`,
      out: /Using synchronous calls for inference/,
    },
    {
      says: "`-a` and `--async` make them asynchronous",
      run: `${S} -a --request-count 1`,
      out: /Using asynchronous calls for inference/,
    },
    {
      says: "`--async` written out",
      run: `${G} --async --request-count 1`,
      out: /Using asynchronous calls for inference/,
      sent: 1,
    },
    {
      says: "a sequential model is called asynchronously by default",
      run: `${SEQUENCE} --request-count 2`,
      out: /Using asynchronous calls for inference/,
    },
    {
      says: "`--sync` calls a sequential model synchronously",
      run: `${SEQUENCE} --sync --request-count 2`,
      out: /Using synchronous calls for inference/,
    },
    {
      says: "`--async` and `--sync` exclude each other",
      run: `${S} --async --sync`,
      refused: "Cannot specify --async and --sync simultaneously.",
    },
    { says: "`-p` is 5000 ms by default", run: `${PLAN} --dry-run`, out: /"windowMs": 5000/ },
    { says: "`-p` sets the window", run: `${S} ${QUICK}`, out: /Measurement window: 40 msec/ },
    {
      says: "`--measurement-interval` is `-p`",
      run: `${PLAN} --measurement-interval 750 --dry-run`,
      out: /"windowMs": 750/,
    },
    {
      says: "windows as long as `-p`",
      differs: "the original's last 1.2 times as long, and so do Rampart's",
      shownBy:
        "cli/perf-analyzer/effects-schedule.test.ts: -p sets the length of windows, which last 1.2 times as long",
    },
    {
      says: "`--measurement-mode time_windows`",
      run: `${S} --measurement-mode time_windows ${QUICK}`,
      out: /Using "time_windows" mode /,
    },
    {
      says: "`--measurement-mode count_windows` has at least `--measurement-request-count` requests in a window",
      run: `${S} --measurement-mode count_windows --measurement-request-count 20 -s 1000000`,
      out: /Using "count_windows" mode [\s\S]* samples in each window: 20\n[\s\S]*Request count: (?:6\d|[7-9]\d|\d{3,})\n/,
    },
    { says: "no other modes", run: `${S} --measurement-mode windows`, refused: "Failed to parse --measurement-mode." },
    {
      says: "`--concurrency-range 1:3` measures 1, 2 and 3: the step is 1",
      run: `${S} --concurrency-range 1:3 ${QUICK}`,
      out: /Concurrency: 1, [^\n]*\nConcurrency: 2, [^\n]*\nConcurrency: 3, /,
    },
    {
      says: "`--concurrency-range 1:3:2` measures 1 and 3",
      run: `${S} --concurrency-range 1:3:2 ${QUICK}`,
      out: /Concurrency: 1, [^\n]*\nConcurrency: 3, /,
    },
    {
      says: "`--concurrency-range 3` measures one level",
      run: `${S} --concurrency-range 3 ${QUICK}`,
      out: /Latency\nConcurrency: 3, [^\n]*\n$/,
    },
    {
      says: "an end of 0 goes up until the latency threshold is met",
      run: `${S} --concurrency-range 1:0 -l 1 ${QUICK}`,
      out: /Latency limit: 1 msec\n[\s\S]*Request concurrency: 1\n/,
      shownBy: "transcript 26-latency-threshold-end0",
    },
    {
      says: "an end of 0 needs a latency threshold",
      run: `${S} --concurrency-range 1:0`,
      refused: "The end of the search range and the latency limit can not be both 0 (or 0.0) simultaneously",
    },
    {
      says: "an end of 0 is not for sequence models called asynchronously",
      run: `${SEQUENCE} --concurrency-range 1:0 -l 1`,
      refused: "The 'end' concurrency can not be 0 for sequence models when using asynchronous API.",
    },
    {
      says: "`--periodic-concurrency-range` goes from 10 by 30 to 100 requests in all",
      run: `${G} --streaming --periodic-concurrency-range 10:100:30 --request-period 1 --profile-export-file {out}/p.json`,
      sent: 100,
      files: { "p.json": /"timestamp"/ },
      shownBy: "transcript 64-periodic",
    },
    {
      says: "`--periodic-concurrency-range` needs `--profile-export-file`",
      run: `${G} --streaming --periodic-concurrency-range 1:4:1`,
      refused: "Must provide --profile-export-file when using the --periodic-concurrency-range option.",
    },
    {
      says: "start, end and step of `--periodic-concurrency-range` are 1 by default",
      run: `${PLAN} -i grpc --streaming --periodic-concurrency-range 1 --profile-export-file {out}/p.json --dry-run`,
      refused: "Failed to parse --periodic-concurrency-range. Both <start> and <end> values must be provided.",
      differs: "the original wants start and end; the step is 1",
    },
    {
      says: "`--request-period` is 10 by default",
      run: `${PLAN} -i grpc --streaming --periodic-concurrency-range 1:4:1 --profile-export-file {out}/p.json --dry-run`,
      out: /eriod[a-zA-Z]*": 10\b/,
    },
    {
      says: "`--request-parameter` sends a parameter of its type",
      run: `${G} --request-parameter max_tokens:256:int --request-count 1`,
      seen: /max_tokens.*256/,
    },
    {
      says: "`--request-parameter` may be repeated",
      run: `${G} --request-parameter a:1:int --request-parameter b:x:string --request-count 1`,
      seen: /"a".*"b"/,
    },
    {
      says: "`--request-parameter` over HTTP",
      run: `${S} --request-parameter a:1:int`,
      refused: "The --request-parameter option is currently only supported by gRPC protocol.",
      shownBy: "transcript e74-request-param-http",
    },
    {
      says: "`--request-rate-range` takes fractions",
      run: `${S} --request-rate-range 50.5 ${QUICK}`,
      out: /Request Rate: 50\.5/,
      shownBy: "transcript c9-request-rate-float",
    },
    {
      says: "`--request-rate-range` from start by step to end",
      run: `${S} --request-rate-range 50:150:50 ${QUICK}`,
      out: /Request Rate: 50[\s\S]*Request Rate: 100[\s\S]*Request Rate: 150/,
    },
    {
      says: "start, end and step of `--request-rate-range` are 1.0 by default",
      run: `${PLAN} --request-rate-range 1:3 --dry-run`,
      out: /"start": 1,\s*"end": 3,\s*"step": 1/,
    },
    {
      says: "an end of 0.0 needs a latency threshold",
      run: `${S} --request-rate-range 10:0.0`,
      refused: "The end of the search range and the latency limit can not be both 0 (or 0.0) simultaneously",
    },
    {
      says: "an end of 0.0 goes up until the latency threshold is met",
      run: `${S} --request-rate-range 100:0:100 -l 1 ${QUICK}`,
      out: /Request Rate: 100/,
      shownBy: "transcript 29-latency-threshold-rate",
    },
    {
      says: "`--request-distribution` is `constant` by default",
      run: `${PLAN} --request-rate-range 10 --dry-run`,
      out: /"constant"/,
    },
    {
      says: "`--request-distribution poisson`",
      run: `${S} --request-rate-range 100 --request-distribution poisson ${QUICK}`,
      out: /poisson distribution/,
    },
    {
      says: "`--request-distribution` has no effect without a rate",
      run: `${S} --request-distribution poisson --request-count 1`,
      out: /Request concurrency: 1/,
    },
    {
      says: "no other distributions",
      run: `${S} --request-distribution gauss`,
      refused: "Failed to parse --request-distribution. Unsupported type provided: 'gauss'.",
    },
    {
      says: "`--request-intervals` reads one interval in microseconds per line, and repeats the file",
      run: `${S} --request-intervals {dir}/gaps.txt ${QUICK}`,
      out: /Request Rate: 375, throughput/,
      shownBy:
        "cli/perf-analyzer/effects-schedule.test.ts: --request-intervals sends at the file's gaps, over and over",
    },
    {
      says: "`--request-intervals` not with `--request-rate-range`",
      run: `${S} --request-intervals {dir}/gaps.txt --request-rate-range 1`,
      refused: "Cannot use both RequestRate and CustomIntervals inference load modes.",
    },
    {
      says: "`--request-intervals` not with `--concurrency-range`",
      run: `${S} --request-intervals {dir}/gaps.txt --concurrency-range 1`,
      refused: "Cannot use both Concurrency and CustomIntervals inference load modes.",
    },
    {
      says: "`--binary-search` halves the range until `step`",
      run: `${S} --concurrency-range 1:4:1 -l 10000 --binary-search --async ${QUICK}`,
      out: /Concurrency: 4, /,
      shownBy: "transcript 27-binary-search-async",
    },
    {
      says: "a synchronous `--binary-search` measures each level with its own load",
      differs: "the original's load never sinks; Rampart's does",
      shownBy: "transcript 27-binary-search",
    },
    {
      says: "`--binary-search` needs an end",
      run: `${S} --binary-search -l 5 --concurrency-range 4`,
      refused: "The end of the range can not be less than start of the range for binary search mode.",
    },
    {
      says: "`--binary-search` needs a start and an end",
      run: `${S} --binary-search -l 1000 ${QUICK}`,
      differs: "the original accepts none, prints no limits, and measures 1 twice; so does Rampart",
      out: /Concurrency: 1, /,
      shownBy:
        "cli/perf-analyzer/effects-schedule.test.ts: --binary-search without a range measures a concurrency of 1 as both ends, as the original does",
    },
    {
      says: "a search is linear by default",
      run: `${PLAN} --concurrency-range 1:4 --dry-run`,
      out: /"search": "linear"/,
    },
    {
      says: "`--num-of-sequences` is 4 by default",
      run: `${PLAN} --request-rate-range 10 --dry-run`,
      out: /"concurrent": 4/,
    },
    {
      says: "`--num-of-sequences` has no effect without a rate",
      run: `${SEQUENCE} --num-of-sequences 9 --request-count 2`,
      code: 0,
    },
    {
      says: "`--num-of-sequences` is the number of sequences at a rate",
      shownBy:
        "cli/perf-analyzer/effects-sequences.test.ts: --num-of-sequences is how many sequences a schedule has under way",
    },
    {
      says: "`-l` ends the search above the latency",
      run: `${S} --concurrency-range 1:8 --latency-threshold 1 ${QUICK}`,
      out: /Latency limit: 1 msec\n[\s\S]*Request concurrency: 1\n$/,
      err: /Measured latency .* limit of 1 msec/,
      shownBy: "transcript 25-latency-threshold-linear",
    },
    { says: "`-l` is 0 by default: no limit", run: `${PLAN} --dry-run`, out: /"latencyLimitMs": null/ },
    { says: "`--max-threads` is 16 by default", run: `${PLAN} --async --dry-run`, out: /"maxLanes": 16/ },
    {
      says: "`--max-threads` is 4 by default at a rate",
      run: `${PLAN} --request-rate-range 10 --dry-run`,
      out: /"maxLanes": 4/,
    },
    {
      says: "`--max-threads` bounds the threads of asynchronous calls",
      run: `${S} --max-threads 2 --async --concurrency-range 4 --request-count 8`,
      sent: 8,
      shownBy:
        "cli/perf-analyzer/effects-schedule.test.ts: --max-threads bounds the lanes of --async and the requests outstanding of a synchronous rate",
    },
    { says: "`-s` is 10 % by default", run: `${PLAN} --dry-run`, out: /"stabilityPct": 10/ },
    {
      says: "three windows must agree in throughput and in latency within `-s`",
      run: `${S} -s 0.0000001 -p 20 -r 3`,
      code: 2,
      err: /Failed to .* within 3 measurement windows/,
    },
    { says: "`-r` is 10 by default", run: `${PLAN} --dry-run`, out: /"maxTrials": 10/ },
    {
      says: "`--max-trials` and `--stability-percentage` are `-r` and `-s`",
      run: `${PLAN} --max-trials 7 --stability-percentage 25 --dry-run`,
      out: /"stabilityPct": 25,\s*"maxTrials": 7/,
    },
    {
      says: "`--percentile 85` stabilises and reports the 85th percentile",
      run: `${S} --percentile 85 --request-count 4`,
      out: /p85 latency: \d+ usec/,
    },
    {
      says: "`--percentile=85` is in the settings: `Stabilizing using p85 latency`",
      run: `${S} --percentile=85 ${QUICK}`,
      out: /Stabilizing using p85latency and throughput/,
      differs: "the original prints `p85latency and throughput`, and so does Rampart",
      shownBy: "transcript 13-percentile-99-verbose",
    },
    {
      says: "without `--percentile` the average latency is used",
      run: `${S} ${QUICK}`,
      out: /Stabilizing using average latency/,
    },
    { says: "`--percentile -1` is the default", run: `${S} --percentile -1 --request-count 1`, out: /Avg latency/ },
    { says: "`--serial-sequences` is off by default", run: `${PLAN} --dry-run`, out: /"isSerial": false/ },
    {
      says: "`--serial-sequences` has one request of a sequence in flight",
      run: `${PLAN} --serial-sequences --dry-run`,
      out: /"isSerial": true/,
      shownBy:
        "cli/perf-analyzer/effects-sequences.test.ts: --serial-sequences has a sequence wait for its response also on a stream",
    },
    {
      says: "deprecated `-t`, `-c`, `-d`",
      run: `${S} -t 2 --request-count 4`,
      err: /Warning: -t is deprecated/,
      sent: 4,
      shownBy:
        "cli/perf-analyzer/effects-schedule.test.ts: -t and -c are the ends of the range of concurrencies, -d changes nothing",
    },
  ],
};

export const INPUT: Section = {
  title: "01: II. input data",
  statements: [
    {
      says: "`-b` sets the batch size",
      run: `${S} -b 4 --request-count 1`,
      out: /Batch size: 4/,
      seen: /"shape":\[4,16\]/,
    },
    { says: "`--input-data` is `random` by default", run: `${PLAN} --dry-run`, out: /"inputs": \{\s*"kind": "random"/ },
    { says: "`--input-data random`", run: `${S} --input-data random --request-count 1`, sent: 1 },
    { says: "`--input-data zero`", run: `${S} --input-data zero --request-count 1`, seen: /\0{128}$/m },
    {
      says: "`--input-data` a directory with a binary file for each input",
      run: `${S} --input-data {dir}/folder --request-count 1`,
      seen: /\0{128}$/m,
    },
    {
      says: "a file of the directory holds the data of one item",
      run: `${S} --input-data {dir}/short-folder --request-count 1`,
      refused: "provided data for input INPUT0 has",
    },
    {
      says: "a text file of the directory has one string per line",
      run: `perf_analyzer -m simple -u {text} --input-data {dir}/texts --request-count 1`,
      seen: /first[\s\S]*second/,
      shownBy: "transcript 37-input-dir-string",
    },
    { says: "`--input-data` a JSON file", run: `${S} --input-data {dir}/one.json --request-count 1`, sent: 1 },
    {
      says: "several `--input-data` files are put one after the other",
      run: `${S} --input-data {dir}/four.json --input-data {dir}/more.json --request-count 5`,
      out: /read data for 1 stream\/streams with 5 step\/steps/,
      seen: /a\0\0\0b\0\0\0/,
    },
    {
      says: "a new sequence takes the next data stream in turn",
      run: `${SEQUENCE} --input-data {dir}/streams.json --request-count 9`,
      differs: "the original draws at random (transcript 58); Rampart takes them in turn",
      seen: /a4[\s\S]*b3[\s\S]*c2/,
    },
    { says: "`--shared-memory` is `none` by default", run: `${PLAN} --dry-run`, out: /"sharedMemory": "none"/ },
    {
      says: "`--shared-memory system`",
      run: `${S} --shared-memory system --request-count 2`,
      seen: /POST \/v2\/systemsharedmemory\/region\/[^ ]*\/register/,
      sent: 2,
    },
    {
      says: "`--shared-memory cuda`",
      shownBy:
        "service/triton/shared-memory.test.ts: --shared-memory cuda without CUDA's library is an error that names it",
    },
    {
      says: "no other kinds of shared memory",
      run: `${S} --shared-memory gpu`,
      refused: "Failed to parse --shared-memory.",
    },
    {
      says: "`--output-shared-memory-size` is 100 KB by default",
      run: `${PLAN} --dry-run`,
      out: /"outputSharedMemoryBytes": 102400/,
    },
    {
      says: "`--output-shared-memory-size` bytes for an output whose size varies",
      run: `${PLAN} --output-shared-memory-size 4096 --dry-run`,
      out: /"outputSharedMemoryBytes": 4096/,
      shownBy:
        "service/triton/shared-memory.test.ts: --output-shared-memory-size is the memory for one item of an output whose size varies",
    },
    {
      says: "`--shape` sets the size of an input",
      run: `perf_analyzer -m simple -u {image} --shape IMAGE:3,4,5 --request-count 1`,
      seen: /"shape":\[1,3,4,5\]/,
    },
    {
      says: "`--shape` may be repeated for other inputs",
      run: `${PLAN} --shape A:1,2,3 --shape B:4 --dry-run`,
      out: /"shapes": \{\s*"A": \[\s*1,\s*2,\s*3\s*\],\s*"B": \[\s*4\s*\]/,
    },
    { says: "`--shape` is `name:shape`", run: `${S} --shape INPUT0`, refused: "Failed to parse --shape." },
    {
      says: "`--sequence-length` is 20 by default, varied by 20 %",
      run: `${PLAN} --dry-run`,
      out: /"lengthVariationPct": 20/,
      shownBy: "transcript 50-sequence-default",
    },
    {
      says: "`--sequence-length` and `--sequence-length-variation` set the length",
      run: `${SEQUENCE} --sequence-length 2 --sequence-length-variation 0 --request-count 4`,
      seen: /"sequence_start":false,"sequence_end":true|"sequence_end":true/,
      sent: 4,
      shownBy:
        "cli/perf-analyzer/effects-sequences.test.ts: --sequence-length and --sequence-length-variation set how long sequences are",
    },
    {
      says: "without `--sequence-length`, the length is that of the data stream",
      run: `${SEQUENCE} --input-data {dir}/streams.json --request-count 4 -v`,
      seen: /"sequence_end":true[^\n]*a4/,
      sent: 4,
    },
    {
      says: "`--sequence-length` beats the data stream",
      run: `${SEQUENCE} --input-data {dir}/streams.json --sequence-length 2 --sequence-length-variation 0 --request-count 4`,
      seen: /"sequence_end":true[^\n]*a2/,
    },
    {
      says: "`--sequence-id-range` begins at start",
      run: `${SEQUENCE} --sequence-id-range 40 --request-count 2`,
      seen: /"sequence_id":40\b/,
    },
    {
      says: "`--sequence-id-range start:end` ends before end",
      run: `${SEQUENCE} --sequence-id-range 100:102 --sequence-length 1 --request-count 3`,
      seen: /"sequence_id":100\b[\s\S]*"sequence_id":101\b[\s\S]*"sequence_id":100\b/,
    },
    {
      says: "fewer ids than sequences are an error",
      run: `${SEQUENCE} --sequence-id-range 1:3 --concurrency-range 4 --request-count 8`,
      refused:
        "sequence id range specified is smaller than the maximum possible concurrency, sequence id collision may occur.",
    },
    { says: "ids begin at 1", run: `${SEQUENCE} --request-count 2`, seen: /"sequence_id":1\b/ },
    {
      says: "`--string-length` is 128 by default",
      run: `perf_analyzer -m simple -u {text} --request-count 1`,
      seen: /"binary_data_size":264\b/,
    },
    {
      says: "`--string-length` sets the length of random strings",
      run: `perf_analyzer -m simple -u {text} --string-length 5 --request-count 1`,
      seen: /"binary_data_size":18\b/,
    },
    {
      says: "`--string-data` is every string, whatever `--string-length` says",
      run: `perf_analyzer -m simple -u {text} --string-data abc --string-length 5 --request-count 1`,
      seen: /abc[\s\S]*abc/,
    },
    {
      says: "`--string-length` and `--string-data` have no effect with a directory",
      run: `perf_analyzer -m simple -u {text} --input-data {dir}/texts --string-data abc --string-length 5 --request-count 1`,
      seen: /first[\s\S]*second/,
    },
    {
      says: "`--input-tensor-format` is `binary` by default",
      run: `${S} --request-count 1`,
      seen: /"binary_data_size":64/,
    },
    {
      says: "`--input-tensor-format json`",
      run: `${S} --input-tensor-format json --input-data {dir}/one.json --request-count 1`,
      seen: /"data":\[0,1,2,3,/,
    },
    {
      says: "`--output-tensor-format json`",
      run: `${S} --output-tensor-format json --request-count 1`,
      shownBy: "cli/perf-analyzer/effects-wire.test.ts: --output-tensor-format json asks for outputs as JSON",
      differs: "the original asks for outputs in the format of the inputs, whatever it says; Rampart honours it",
    },
    {
      says: "`--output-tensor-format binary` is the default",
      run: `${S} --request-count 1`,
      seen: /"binary_data":true/,
    },
    {
      says: "tensor formats are for HTTP only",
      run: `${G} --input-tensor-format json --request-count 1`,
      shownBy: "transcript e97-json-format-grpc",
      differs: "the original accepts them without effect, and so does Rampart",
      sent: 1,
    },
    { says: "deprecated `-z`", run: `${S} -z --request-count 1`, err: /Warning: -z is deprecated/, seen: /\0{128}$/m },
    {
      says: "deprecated `--data-directory`",
      run: `${S} --data-directory {dir}/folder --request-count 1`,
      err: /Warning: --data-directory is deprecated/,
      seen: /\0{128}$/m,
    },
  ],
};
