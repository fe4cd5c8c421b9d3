import type { Section } from "./statement.ts";

/** Document 04: the README of GenAI-Perf. */

const P = "genai-perf profile -m llama --tokenizer {tiny} -u {http} --artifact-dir {out}";
const C = `${P} --endpoint-type chat --isl 8`;
const ONE = `${C} --osl 3 --request-count 1`;
const TWO = `${C} --osl 3 --request-count 2`;
const FILE = `${P} --endpoint-type chat --request-count 2 --osl 3 --input-file`;

export const USE: Section = {
  title: "04: what it does, its subcommands and files",
  statements: [
    {
      says: "a model, a URL, inputs and a load give a table of metrics",
      run: `${TWO} --streaming --concurrency 2`,
      out: /NVIDIA GenAI-Perf \| LLM Metrics[\s\S]*Time To First Token \(ms\)[\s\S]*Inter Token Latency \(ms\)[\s\S]*Request Throughput \(per sec\)/,
    },
    {
      says: "results are also in a CSV and a JSON file",
      run: TWO,
      files: {
        "profile_export_genai_perf.csv": /^Metric,avg,min,max,p99/,
        "profile_export_genai_perf.json": /"request_throughput"/,
      },
    },
    { says: "columns avg, min, max, p99, p90, p75", run: TWO, out: /avg ┃ +min ┃ +max ┃ +p99 ┃ +p90 ┃ +p75 ┃/ },
    {
      says: "the server must run",
      run: "genai-perf profile -m llama --tokenizer {tiny} -u {dead} --endpoint-type chat --isl 8 --request-count 1 --artifact-dir {out}",
      code: 1,
      err: /refused|connect/i,
    },
    { says: "Time To Second Token", run: `${TWO} --streaming`, out: /Time To Second Token \(ms\)/ },
    { says: "Output Token Throughput Per User", run: `${TWO} --streaming`, out: /Output Token Throughput Per User/ },
    {
      says: "lengths of input and output, in tokens",
      run: `${TWO} --streaming`,
      out: /Output Sequence Length \(tokens\) │ +3\.00[\s\S]*Input Sequence Length \(tokens\) │ +8\.00/,
    },
    {
      says: "throughputs have one value per run",
      run: `${TWO} --streaming`,
      out: /Output Token Throughput \(tokens\/sec\) │ +[\d.,]+ │ +N\/A │/,
    },
    {
      says: "the example with `--backend tensorrtllm --streaming`: KServe over gRPC at localhost:8001",
      run: "genai-perf profile -m gpt2 --backend tensorrtllm --streaming --tokenizer {tiny} --request-count 2 --dry-run",
      err: /server: +localhost:8001, streamed[\s\S]*gpt2-triton-tensorrtllm-concurrency1/,
    },
    {
      says: "`config -f FILE` runs a file",
      run: "genai-perf config -f {dir}/config.yaml",
      out: /Request Count \(count\) │ +2\.00/,
      sent: 2,
    },
    {
      says: "`config` needs `-f`",
      run: "genai-perf config",
      refused: "the following arguments are required: -f/--file",
    },
    {
      says: "`create-template` writes all options with their defaults",
      run: "genai-perf create-template -f {out}/mine.yaml",
      files: {
        "mine.yaml":
          /model_selection_strategy: round_robin\n {4}backend: tensorrtllm\n {4}custom: \n {4}type: kserve\n {4}streaming: False\n {4}server_metrics_urls: http:\/\/localhost:9400\/metrics\n {4}url: localhost:8001\n {4}grpc_method: /,
      },
    },
    {
      says: "the template's address of metrics is `http://localhost:8002/metrics` or `…:9400/metrics`",
      run: "genai-perf create-template -f {out}/mine.yaml",
      files: { "mine.yaml": /9400/ },
      differs: "the original writes 9400, and so does Rampart",
      shownBy: "cli/genai-perf/golden/template.txt: 9400",
    },
    {
      says: "the default file is `genai_perf_config.yaml`",
      shownBy: "cli/genai-perf/original-flags.ts: genai_perf_config.yaml",
    },
    {
      says: "`create-template -v` writes descriptions too",
      run: "genai-perf create-template -v -f {out}/mine.yaml",
      files: { "mine.yaml": /# How requests are shared among several models/ },
    },
    {
      says: "`--override-config` lets options win over the file",
      run: "genai-perf config -f {dir}/config.yaml --override-config --warmup-request-count 100 --concurrency 32 --request-count 40 --dry-run",
      out: /"values": \[\s*32\s*\]/,
    },
    {
      says: "options without `--override-config` do not win",
      run: "genai-perf config -f {dir}/config.yaml --concurrency 2",
      code: 1,
      refused: "In order to use the CLI to override the config, the --override-config flag must be set.",
    },
    {
      says: "`analyze` sweeps a load",
      run: "genai-perf analyze -m llama --tokenizer {tiny} -u {http} --artifact-dir {out} --endpoint-type chat --isl 8 --osl 3 --request-count 2 --sweep-type concurrency --sweep-list 1,2",
      out: /NVIDIA GenAI-Perf/,
      files: { "analyze_export_genai_perf.csv": /Config Name/ },
    },
    {
      says: "`--generate-plots` makes plots",
      run: `${TWO} --streaming --generate-plots`,
      files: { "plots.html": /Time [Tt]o First Token[\s\S]*/ },
    },
    {
      says: "`process-export-files` merges the exports of several runs",
      shownBy: "cli/genai-perf/merge-exports.test.ts: test(",
    },
    {
      says: "`-h` and `--help` print the help",
      run: "genai-perf profile -h",
      out: /usage: genai-perf profile|--endpoint-type/,
    },
    { says: "`--version` prints the version", run: "genai-perf --version", out: /^genai-perf \d/ },
  ],
};

export const INPUTS: Section = {
  title: "04: model inputs",
  statements: [
    {
      says: "`--num-dataset-entries` different payloads, used again",
      run: `${C} --osl 3 --num-dataset-entries 2 -p 30`,
      files: {
        "inputs.json": /^(?:(?!"payload")[\s\S])*"payload"(?:(?!"payload")[\s\S])*"payload"(?:(?!"payload")[\s\S])*$/,
      },
    },
    {
      says: "100 of them by default",
      shownBy: 'cli/genai-perf/original-flags.ts: ["--num-dataset-entries --num-prompts", 100]',
    },
    {
      says: "`--synthetic-input-tokens-mean` and `--isl`",
      run: `${P} --endpoint-type chat --synthetic-input-tokens-mean 12 --request-count 1`,
      out: /Input Sequence Length \(tokens\) │ +12\.00/,
    },
    {
      says: "the mean of input tokens is 1 or more",
      run: `${P} --endpoint-type chat --isl 0 --request-count 1`,
      err: /--isl 0 has no effect: like in GenAI-Perf/,
      differs: "the original takes 0 for no number, and uses the default; Rampart does, and warns",
    },
    {
      says: "the mean is 550 by default",
      run: `${P} --endpoint-type chat --request-count 1`,
      out: /Input Sequence Length \(tokens\) │ +550\.00/,
    },
    {
      says: "`--synthetic-input-tokens-stddev` varies the lengths",
      run: `${P} --endpoint-type chat --isl 30 --synthetic-input-tokens-stddev 9 --request-count 6 --random-seed 1`,
      out: /Input Sequence Length \(tokens\) │ +(\d+\.\d\d) │ +(?!\1)/,
    },
    {
      says: "the deviation is 0 or more",
      run: `${C} --synthetic-input-tokens-stddev -1 --request-count 1`,
      code: 1,
      refused: "--synthetic-input-tokens-stddev: User Config: -1 exceeds lower bounds ({'lower': 0})",
    },
    {
      says: "`--random-seed` gives the same prompts again",
      run: `${ONE} --random-seed 7`,
      shownBy: "cli/genai-perf/profile.test.ts: seed",
    },
    {
      says: "the seed is 0 or more",
      run: `${ONE} --random-seed -1`,
      sent: 1,
      differs: "the original accepts negative ones, and so does Rampart",
    },
    { says: "`--request-count` and `--num-requests`", run: `${C} --osl 3 --num-requests 3`, sent: 3 },
    { says: "the number of requests is 10 by default", run: `${C} --osl 3`, sent: 10 },
    {
      says: "`--warmup-request-count` and `--num-warmup-requests` are sent first",
      run: `${TWO} --num-warmup-requests 3`,
      sent: 5,
      out: /Request Count \(count\) │ +2\.00/,
    },
    {
      says: "`--input-file` with JSON Lines of `text`",
      run: `${FILE} {dir}/prompts.jsonl`,
      seen: /first prompt[\s\S]*second prompt/,
    },
    {
      says: "`--input-file` with a directory",
      run: `${P} --endpoint-type rankings --request-count 1 --input-file {dir}/prompt-folder`,
      seen: /a query[\s\S]*a passage/,
    },
    {
      says: "`--input-file synthetic:queries,passages`",
      run: `${P} --endpoint-type rankings --isl 8 --request-count 1 --input-file synthetic:queries,passages`,
      seen: /"query"[\s\S]*"passages"/,
    },
    {
      says: "`--num-prefix-prompts` and `--prefix-prompt-length` put prefixes before prompts",
      run: `${ONE} --num-prefix-prompts 1 --prefix-prompt-length 6`,
      out: /Input Sequence Length \(tokens\) │ +1[345]\.00/,
    },
    {
      says: "no prefixes by default, of 100 tokens",
      run: ONE,
      out: /Input Sequence Length \(tokens\) │ +8\.00/,
      shownBy: 'cli/genai-perf/original-flags.ts: ["--prefix-prompt-length", 100]',
    },
    {
      says: "`--output-tokens-mean` and `--osl` set the length of outputs",
      run: `${C} --output-tokens-mean 5 --request-count 1`,
      seen: /"max_tokens":5\b/,
    },
    {
      says: "the mean of output tokens is 1 or more",
      run: `${C} --osl 0 --request-count 1`,
      err: /--osl 0 has no effect: like in GenAI-Perf/,
      differs: "the original takes 0 for no number; Rampart does, and warns",
    },
    {
      says: "`--output-tokens-stddev` needs `--output-tokens-mean`",
      run: `${C} --output-tokens-stddev 3 --request-count 1`,
      code: 1,
      refused: "User Config: If output tokens stddev is set, mean must also be set",
    },
    {
      says: "`--output-tokens-stddev` varies the length",
      run: `${C} --osl 40 --output-tokens-stddev 9 --request-count 3 --random-seed 1`,
      seen: /"max_tokens":(\d+)\b[\s\S]*"max_tokens":(?!\1)\d+/,
    },
    {
      says: "`--output-tokens-mean-deterministic` is for Triton",
      run: `${C} --osl 4 --output-tokens-mean-deterministic --request-count 1`,
      code: 1,
      refused: "input.output_tokens.deterministic is only supported with Triton or TensorRT-LLM Engine service kinds",
    },
    {
      says: "`--output-tokens-mean-deterministic` sets the minimum too",
      run: "genai-perf profile -m gpt2 --osl 4 --output-tokens-mean-deterministic --tokenizer {tiny} --isl 8 --request-count 1 --dry-run",
      err: /"min_length":\[4\]/,
    },
    {
      says: "`--extra-inputs name:value`, repeated",
      run: `${ONE} --extra-inputs top_k:5 --extra-inputs ignore_eos:true`,
      seen: /"top_k":5,"ignore_eos":true/,
    },
    {
      says: "`--extra-inputs` with a JSON object",
      run: `${ONE} --extra-inputs '{"top_k":5,"seed":3}'`,
      seen: /"top_k":5,"seed":3/,
    },
    {
      says: "`--batch-size-text` for embeddings",
      run: `${P} --endpoint-type embeddings --isl 8 --batch-size-text 3 --request-count 1`,
      seen: /"input":\["[^"]*","[^"]*","[^"]*"\]/,
    },
    {
      says: "a batch for language models is always 1",
      run: `${ONE} --batch-size-text 2`,
      code: 1,
      refused: "The --batch-size-text flag is not supported for openai_chat_completions.",
    },
    {
      says: "`-b` and `--batch-size` are `--batch-size-text`",
      run: `${P} --endpoint-type embeddings --isl 8 -b 2 --request-count 1`,
      seen: /"input":\["[^"]*","[^"]*"\]/,
    },
    {
      says: "`payload:FILE` in Mooncake's format, as printed there: objects of several lines with comments",
      run: `${P} --endpoint-type chat --streaming --fixed-schedule --input-file payload:{dir}/moon.jsonl`,
      sent: 2,
      differs: "fixed schedules fail in the original; Rampart measures",
    },
    {
      says: "`payload:FILE` is sent by its timestamps",
      run: `${P} --endpoint-type chat --input-file payload:{dir}/moon.jsonl`,
      sent: 2,
      err: /the requests have timestamps, which only --fixed-schedule follows/,
      differs: "the original fails in perf_analyzer; Rampart wants `--fixed-schedule`, and says so",
    },
    {
      says: "the same `hash_ids` give the same text",
      run: `${P} --endpoint-type chat --fixed-schedule --input-file payload:{dir}/moon.jsonl`,
      files: { "inputs.json": /"content": "([^"]+)"[\s\S]*"content": "\1"/ },
    },
    {
      says: "`input_length` and `output_length`",
      run: `${P} --endpoint-type chat --fixed-schedule --input-file payload:{dir}/moon.jsonl`,
      out: /Output Sequence Length \(tokens\) │ +2\.50[\s\S]*Input Sequence Length \(tokens\) │ +12\.00/,
    },
    {
      says: "`text_input` and `priority`",
      run: `${P} --endpoint-type chat --fixed-schedule --input-file payload:{dir}/texts.jsonl`,
      seen: /say this[\s\S]*"priority":1/,
    },
    {
      says: "`session_id`",
      run: `${P} --endpoint-type chat --session-concurrency 1 --input-file payload:{dir}/sessions.jsonl`,
      seen: /one[\s\S]*two/,
      sent: 2,
    },
    {
      says: "the example with `--service-kind openai --endpoint-type chat`",
      run: `${ONE} --service-kind openai --streaming`,
      sent: 1,
      differs: "the original has no `--service-kind`; Rampart accepts it beside its endpoint type",
    },
    {
      says: '`-H "Authorization: Bearer KEY"`',
      run: `${ONE} -H 'Authorization: Bearer KEY' -H 'Accept: text/event-stream'`,
      seen: /"authorization":"Bearer KEY","accept":"text\/event-stream"/i,
    },
  ],
};

export const OPTIONS: Section = {
  title: "04: the other options",
  statements: [
    {
      says: "`-m` takes several models, in turn",
      run: "genai-perf profile -m a b --tokenizer {tiny} -u {http} --artifact-dir {out} --endpoint-type chat --isl 8 --osl 3 --request-count 2",
      seen: /"model":"a"[\s\S]*"model":"b"/,
    },
    {
      says: "`-m` is needed",
      run: "genai-perf profile --tokenizer {tiny} -u {http} --endpoint-type chat",
      code: 1,
      refused: "Required field model_names is not set",
    },
    {
      says: "`--model-selection-strategy random`",
      run: "genai-perf profile -m a b --model-selection-strategy random --tokenizer {tiny} -u {http} --artifact-dir {out} --endpoint-type chat --isl 8 --osl 3 --request-count 2",
      sent: 2,
    },
    {
      says: "no other strategies",
      run: `${ONE} --model-selection-strategy last`,
      refused: "argument --model-selection-strategy: invalid choice: 'last' (choose from 'round_robin', 'random')",
    },
    {
      says: "`--backend` is tensorrtllm or vllm",
      run: `${ONE} --backend sglang`,
      refused: "argument --backend: invalid choice: 'sglang' (choose from 'tensorrtllm', 'vllm')",
    },
    { says: "`--endpoint` sets the path", run: `${ONE} --endpoint own/chat`, code: 1, seen: /POST \/own\/chat/ },
    {
      says: "`--endpoint-type` is `kserve` by default",
      shownBy: 'cli/genai-perf/original-flags.ts: ["--endpoint-type", "kserve"]',
    },
    {
      says: "`--server-metrics-urls` takes several URLs",
      run: `${ONE} --server-metrics-urls http://{gpus} http://{gpus}`,
      sent: 1,
    },
    { says: "`--streaming` streams", run: `${ONE} --streaming`, seen: /"stream":true/ },
    { says: "no streaming by default", run: ONE, seen: /"messages"(?:(?!"stream":true)[\s\S])*$/ },
    {
      says: "`-u` and `--url`",
      run: "genai-perf profile -m llama --tokenizer {tiny} --url http://{http} --artifact-dir {out} --endpoint-type chat --isl 8 --osl 3 --request-count 1",
      sent: 1,
    },
    {
      says: "`-u` is `None` by default",
      run: "genai-perf profile -m llama --tokenizer {tiny} --endpoint-type chat --isl 8 --request-count 1 --dry-run",
      differs: "the original takes localhost:8001, and 8000 for HTTP; so does Rampart",
      err: /server: +localhost:8000/,
    },
    {
      says: "`--grpc-method` for dynamic gRPC",
      run: "genai-perf profile -m x --endpoint-type dynamic_grpc --grpc-method v1.Simple/Echo --input-file {dir}/commands.jsonl -u {grpc} --artifact-dir {out} --request-count 1",
      out: /Request Latency/,
    },
    {
      says: "`--grpc-method` only with dynamic gRPC",
      run: `${ONE} --grpc-method a.B/C`,
      code: 1,
      refused: "--grpc-method cannot be used with the endpoint type chat",
    },
    {
      says: "`--audio-length-mean`, `-stddev`, `-format`, `-depths`, `-sample-rates`, `-num-channels` make sound",
      run: `${P} --endpoint-type multimodal --isl 8 --audio-length-mean 0.1 --audio-length-stddev 0 --audio-format wav --audio-depths 16 --audio-sample-rates 16 --audio-num-channels 1 --request-count 1`,
      seen: /"input_audio":\{"data":"[^"]+","format":"wav"/,
      code: 0,
    },
    {
      says: "other formats of sound",
      run: `${ONE} --audio-format ogg`,
      refused: "argument --audio-format: invalid choice: 'ogg' (choose from 'wav', 'mp3')",
    },
    {
      says: "1 or 2 channels",
      run: `${ONE} --audio-num-channels 3`,
      refused: "argument --audio-num-channels: invalid choice: 3 (choose from 1, 2)",
    },
    {
      says: "`--batch-size-audio` with `multimodal`",
      run: `${P} --endpoint-type multimodal --isl 8 --audio-length-mean 1 --batch-size-audio 2 --request-count 1`,
      seen: /"input_audio"[\s\S]*"input_audio"/,
    },
    {
      says: "`--batch-size-image` for image retrieval",
      run: `${P} --endpoint-type image_retrieval --image-width-mean 8 --image-height-mean 8 --batch-size-image 2 --request-count 1 --dry-run`,
      out: /image[\s\S]*image/,
    },
    {
      says: "`--image-width-mean`, `--image-height-mean` with deviations make images",
      run: `${P} --endpoint-type multimodal --isl 8 --image-width-mean 8 --image-width-stddev 1 --image-height-mean 8 --image-height-stddev 1 --image-format jpeg --request-count 1`,
      seen: /data:image\/jpeg;base64,/,
    },
    {
      says: "without `--image-format` one is drawn for each image",
      run: `${P} --endpoint-type multimodal --isl 8 --image-width-mean 8 --image-height-mean 8 --request-count 8 --random-seed 1`,
      seen: /data:image\/jpeg[\s\S]*data:image\/png|data:image\/png[\s\S]*data:image\/jpeg/,
      differs: "the original always takes PNG; Rampart draws",
    },
    {
      says: "`--header` is `Header:Value`",
      run: `${ONE} --header a`,
      code: 1,
      refused: "--header: a header needs a colon",
    },
    { says: "`--H` is `--header`", run: `${ONE} --H X-A:b`, seen: /"x-a":"b"/i },
    { says: "`--concurrency`", run: `${C} --osl 3 --request-count 4 --concurrency 2`, sent: 4, out: /GenAI-Perf/ },
    { says: "`--request-rate`", run: `${C} --osl 3 --request-count 20 --request-rate 20`, sent: 20 },
    {
      says: "`--measurement-interval` and `-p` measure for an interval",
      run: `${C} --osl 3 -p 30`,
      files: { "profile_export_genai_perf.json": /"measurement": \{\s*"mode": "interval",\s*"num": 30/ },
    },
    {
      says: "with the default stability a run lasts three intervals",
      shownBy: 'cli/genai-perf/original-flags.ts: ["-s --stability-percentage", 999]',
    },
    {
      says: "`-s` takes fractions",
      run: `${TWO} -s 12.5`,
      files: { "profile_export_genai_perf.json": /"stability_percentage": 12\.5/ },
    },
    {
      says: "`--artifact-dir` is `artifacts` by default",
      run: "genai-perf profile -m llama --tokenizer {tiny} --endpoint-type chat --isl 8 --request-count 1 --dry-run",
      err: /files in: +artifacts\/llama-openai-chat-concurrency1/,
    },
    {
      says: "`--profile-export-file x.json` names the others `x_genai_perf.json` and `x_genai_perf.csv`",
      run: `${ONE} --profile-export-file x.json`,
      files: { "x.json": /"experiments"/, "x_genai_perf.json": /"request_latency"/, "x_genai_perf.csv": /^Metric,/ },
    },
    {
      says: "`--num-sessions`, `--session-turns-mean` and `-stddev` make sessions",
      run: `${C} --osl 3 --session-concurrency 2 --num-sessions 3 --session-turns-mean 2 --session-turns-stddev 0`,
      sent: 6,
    },
    {
      says: "`--session-concurrency` must be given with sessions",
      run: `${C} --num-sessions 2`,
      code: 1,
      refused: "--num-sessions: sessions need --session-concurrency as the load",
    },
    {
      says: "`--session-turn-delay-mean` and `-stddev` in milliseconds",
      run: `${C} --osl 3 --session-concurrency 1 --num-sessions 1 --session-turns-mean 2 --session-turn-delay-mean 20 --session-turn-delay-stddev 0`,
      files: { "inputs.json": /"delay": \[\s*20\s*\]/ },
      sent: 2,
    },
    {
      says: "`--session-delay-ratio` scales the pauses of a payload file",
      run: `${P} --endpoint-type chat --session-concurrency 1 --session-delay-ratio 2 --input-file payload:{dir}/sessions.jsonl`,
      files: { "inputs.json": /"delay": \[\s*10\s*\]/ },
    },
    {
      says: "`--tokenizer` is the model's name by default",
      shownBy: 'cli/genai-perf/original-flags.ts: ["--tokenizer", ""]',
    },
    { says: "`--tokenizer` takes a path", run: ONE, sent: 1 },
    {
      says: "`--tokenizer-revision` is `main` by default",
      shownBy: 'cli/genai-perf/original-flags.ts: ["--tokenizer-revision", "main"]',
    },
    {
      says: "`--tokenizer-trust-remote-code`",
      run: `${ONE} --tokenizer-trust-remote-code`,
      code: 1,
      refused: "--tokenizer-trust-remote-code: code that comes with a tokenizer is not run",
    },
    {
      says: "`-v` prints the telemetry of the GPUs",
      run: `${C} --osl 3 --request-count 2 -v --server-metrics-urls http://{gpus}`,
      sent: 2,
      shownBy: "cli/genai-perf/server-metrics.test.ts: test(",
    },
    {
      says: "`--goodput` with several `metric:value`",
      run: `${TWO} --goodput request_latency:300 output_token_throughput_per_user:1 --streaming`,
      out: /Request Goodput/,
    },
    {
      says: "`-g` with an unknown metric",
      run: `${ONE} -g speed:3`,
      err: /goodput: speed is not a metric that can be limited/,
    },
  ],
};
