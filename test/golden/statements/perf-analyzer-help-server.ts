import type { Section } from "./statement.ts";

/** Document 01: the parts of perf_analyzer's help about the server and the results. */

const S = "perf_analyzer -m simple -u {simple}";
const G = "perf_analyzer -m simple -u {grpcSimple} -i grpc";
const PLAN = "perf_analyzer -m simple";
const TLS = "cli/perf-analyzer/effects-tls.test.ts: ";
const GRPC_TLS = `${TLS}the --ssl-grpc-* flags: TLS, trusted authorities, and the client's certificate`;
const HTTPS = `${TLS}over https the authorities and the server's name are checked separately, like in curl: --ssl-https-verify-* and --ssl-https-ca-*`;
const CLIENT = `${TLS}the client shows its certificate over https, from PEM and from DER files: --ssl-https-client-* and --ssl-https-private-key-*`;

export const SERVER: Section = {
  title: "01: III. server",
  statements: [
    { says: "`-u` is `localhost:8000` by default", run: `${PLAN} --dry-run`, out: /"url": "localhost:8000"/ },
    {
      says: "`-u` is `localhost:8001` by default over gRPC",
      run: `${PLAN} -i grpc --dry-run`,
      out: /"url": "localhost:8001"/,
    },
    {
      says: "`-u` is `localhost:8500` by default with `tfserving`",
      run: `${PLAN} --service-kind tfserving -i grpc --dry-run`,
      out: /"url": "localhost:8500"/,
    },
    { says: "`-i` is HTTP by default", run: `${PLAN} --dry-run`, out: /"protocol": "http"/ },
    {
      says: "`-i` takes gRPC and HTTP in any case of letters",
      run: `perf_analyzer -m simple -u {grpcSimple} -i gRPC --request-count 1`,
      sent: 1,
    },
    { says: "`-i HTTP`", run: `${S} -i HTTP --request-count 1`, sent: 1 },
    { says: "no other protocols", run: `${S} -i ftp`, refused: "Failed to parse -i (protocol)." },
    { says: "`--ssl-grpc-use-ssl` is false by default", run: `${PLAN} -i grpc --dry-run`, out: /"isEnabled": false/ },
    {
      says: "`--ssl-grpc-use-ssl true`",
      run: `${PLAN} -i grpc --ssl-grpc-use-ssl true --dry-run`,
      out: /"isEnabled": true/,
      shownBy: GRPC_TLS,
    },
    {
      says: "`--ssl-grpc-use-ssl false`",
      run: `${PLAN} -i grpc --ssl-grpc-use-ssl false --dry-run`,
      out: /"isEnabled": false/,
      differs: "a switch in the original, where `false` turns TLS on; Rampart takes the value",
    },
    {
      says: "`--ssl-grpc-use-ssl=false`",
      run: `${PLAN} -i grpc --ssl-grpc-use-ssl=false --dry-run`,
      out: /"isEnabled": false/,
    },
    {
      says: "`--ssl-grpc-root-certifications-file`, `-private-key-file`, `-certificate-chain-file`",
      shownBy: GRPC_TLS,
    },
    {
      says: "`--ssl-https-verify-peer` is 1 by default, `--ssl-https-verify-host` 2",
      run: `${PLAN} -u https://localhost:1 --dry-run`,
      out: /"verifyPeer": true,\s*"verifyHost": true/,
    },
    {
      says: "`--ssl-https-verify-peer` takes 0 and 1",
      run: `${PLAN} -u https://localhost:1 --ssl-https-verify-peer 0 --dry-run`,
      out: /"verifyPeer": false/,
      shownBy: HTTPS,
    },
    {
      says: "`--ssl-https-verify-peer` takes nothing else",
      run: `${PLAN} --ssl-https-verify-peer 2`,
      refused: "Failed to parse --ssl-https-verify-peer.",
    },
    {
      says: "`--ssl-https-verify-host` takes 0, 1 and 2",
      run: `${PLAN} -u https://localhost:1 --ssl-https-verify-host 0 --dry-run`,
      out: /"verifyHost": false/,
      shownBy: HTTPS,
    },
    {
      says: "`--ssl-https-verify-host` takes nothing else",
      run: `${PLAN} --ssl-https-verify-host 3`,
      refused: "Failed to parse --ssl-https-verify-host.",
    },
    { says: "`--ssl-https-ca-certificates-file`", shownBy: HTTPS },
    { says: "`--ssl-https-client-certificate-file` and `--ssl-https-private-key-file`", shownBy: CLIENT },
    {
      says: "`--ssl-https-client-certificate-type` and `--ssl-https-private-key-type` are `PEM` by default",
      run: `${PLAN} --dry-run`,
      out: /"certType": "PEM",\s*"keyFile": "",\s*"keyType": "PEM"/,
    },
    {
      says: "`--ssl-https-client-certificate-type DER`",
      run: `${PLAN} --ssl-https-client-certificate-type DER --ssl-https-private-key-type DER --dry-run`,
      out: /"certType": "DER"[\s\S]*"keyType": "DER"/,
      shownBy: CLIENT,
    },
    {
      says: "no other types of certificates",
      run: `${PLAN} --ssl-https-client-certificate-type P12`,
      refused: "Failed to parse --ssl-https-client-certificate-type.",
    },
  ],
};

export const OTHER: Section = {
  title: "01: IV. other options",
  statements: [
    {
      says: "`-f` stores the report as CSV",
      run: `${S} -f {out}/report.csv --request-count 2`,
      files: { "report.csv": /^Concurrency,Inferences\/Second,Client Send,/ },
    },
    {
      says: "`--profile-export-file` stores the profile",
      run: `${S} --profile-export-file {out}/p.json --request-count 2`,
      files: { "p.json": /"request_inputs"/ },
    },
    {
      says: "`-H` adds headers, and may be repeated",
      run: `${S} -H X-A:b -H X-C:d --request-count 1`,
      seen: /POST [^\n]*"x-a":"b","x-c":"d"/i,
    },
    { says: "`-H` is `Header:Value`", run: `${S} -H nocolon`, refused: "Failed to parse -H (header)." },
    {
      says: "`-H` has no effect over gRPC",
      run: `${G} -H x-a:b --request-count 1`,
      seen: /gRPC [^\n]*"x-a":"b"/,
      differs: "the original sends it as metadata (transcript w32-grpc-headers-lower), and so does Rampart",
      shownBy: "transcript w32-grpc-headers-lower",
    },
    { says: "`--streaming` sends over a stream", run: `${G} --streaming --request-count 2`, seen: /ModelStreamInfer/ },
    {
      says: "`--streaming` is for gRPC only",
      run: `${S} --streaming`,
      refused: "Streaming is only allowed with gRPC protocol and Triton C API.",
    },
    { says: "`--streaming` is off by default", run: `${PLAN} --dry-run`, out: /"isStreaming": false/ },
    {
      says: "`--grpc-compression-algorithm gzip`",
      run: `${G} --grpc-compression-algorithm gzip --request-count 1`,
      seen: /"grpc-encoding":"gzip"/,
    },
    {
      says: "`--grpc-compression-algorithm deflate`",
      run: `${G} --grpc-compression-algorithm deflate --request-count 1`,
      seen: /"grpc-encoding":"deflate"/,
    },
    {
      says: "`--grpc-compression-algorithm none` is the default",
      run: `${G} --grpc-compression-algorithm none --request-count 1`,
      sent: 1,
    },
    {
      says: "`--grpc-compression-algorithm` is for gRPC only",
      run: `${S} --grpc-compression-algorithm gzip`,
      refused: "Using compression algorithm is only allowed with gRPC protocol.",
    },
    {
      says: "`--trace-level` takes OFF, TIMESTAMPS, TENSORS, and may be repeated",
      run: `${S} --trace-level TIMESTAMPS --trace-level TENSORS --request-count 1`,
      seen: /POST \/v2\/trace\/setting [^\n]*"trace_level":\["TIMESTAMPS","TENSORS"\]/,
    },
    { says: "no other trace levels", run: `${S} --trace-level ALL`, refused: "Failed to parse --trace-level." },
    {
      says: "`--trace-rate`, `--trace-count`, `--trace-file`, `--log-frequency` set the server's trace",
      run: `${S} --trace-rate 5 --trace-count 7 --trace-file t.json --log-frequency 9 --trace-level TIMESTAMPS --request-count 1`,
      seen: /POST \/v2\/trace\/setting [^\n]*"5"[^\n]*/,
    },
    {
      says: "the settings of the trace are set back",
      shownBy:
        "cli/perf-analyzer/effects-telemetry.test.ts: the --trace-* flags and --log-frequency are set before anything is asked and set back after the run",
    },
    {
      says: "`--trace-rate` is 1000 by default, `--trace-count` -1, `--log-frequency` 0",
      run: `${S} --trace-level TIMESTAMPS --request-count 1`,
      differs: "the original sends no option that is not given, so that the server's own values hold; so does Rampart",
      shownBy:
        "cli/perf-analyzer/effects-telemetry.test.ts: trace settings that no flag names stay as they are, and without a flag nothing is asked of them",
    },
    {
      says: "`--verbose-csv` adds columns",
      run: `${S} --verbose-csv -f {out}/report.csv --request-count 2`,
      files: { "report.csv": /Avg latency,request\/response,response wait/ },
    },
    {
      says: "`--collect-metrics` adds the GPUs to the CSV of `--verbose-csv`",
      run: `${S} --collect-metrics --metrics-url {gpus} --metrics-interval 20 --verbose-csv -f {out}/report.csv -p 60 -s 1000000`,
      files: { "report.csv": /Avg GPU Utilization/ },
    },
    {
      says: "`--collect-metrics` needs `--verbose-csv`",
      run: `${S} --collect-metrics --metrics-url {gpus} --metrics-interval 20 -p 60 -s 1000000`,
      differs: "the original takes it alone (transcript 67-collect-metrics-noverbosecsv), and so does Rampart",
      shownBy: "transcript 67-collect-metrics-noverbosecsv",
    },
    {
      says: "`--metrics-url` is `localhost:8002/metrics` by default, `--metrics-interval` 1000 ms",
      run: `${PLAN} --collect-metrics --dry-run`,
      out: /localhost:8002\/metrics[\s\S]*"intervalMs": 1000/,
    },
    {
      says: "`--metrics-url` and `--metrics-interval` need `--collect-metrics`",
      run: `${S} --metrics-url {gpus}`,
      refused: "Must specify --collect-metrics when using the --metrics-url option.",
    },
    {
      says: "`--triton-server-directory` and `--model-repository` are for `triton_c_api` only",
      run: `${S} --model-repository {dir} --request-count 1`,
      err: /--model-repository has no effect with --service-kind triton/,
      shownBy:
        "service/triton-c-api/perf-analyzer.test.ts: --triton-server-directory and --model-repository say what --service-kind triton_c_api loads",
    },
  ],
};
