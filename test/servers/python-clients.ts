import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findPython, installOnce, installPackages } from "./install-once.ts";

/**
 * The real clients of perf_analyzer, and what they import for a run: about 200 MB to load, 660 MB on disk. Exact versions without a
 * resolver, which would also install what they only name: 1.2 GB more, and a placeholder package in place of perf_analyzer.
 */
const packages = [
  "genai-perf==0.0.16",
  "triton-model-analyzer==1.58.0",
  ...["anyio==4.16.0", "certifi==2026.10.18", "cffi==2.1.1", "charset-normalizer==3.5.2", "filelock==4.2.11"],
  ...["fsspec==2026.9.0", "h11==0.16.0", "httpcore2==2.16.2", "httpx2==2.16.2", "huggingface_hub==2.4.0", "idna==3.20"],
  ...["Jinja2==3.1.6", "MarkupSafe==3.0.4", "markdown-it-py==4.3.0", "mdurl==0.1.2", "numpy==2.4.6", "optuna==3.6.1"],
  ...["orjson==3.13.0", "packaging==26.3", "pandas==3.1.1", "pillow==13.0.0", "plotly==5.24.1", "Pygments==2.21.0"],
  ...["python-dateutil==4.0.0", "PyYAML==6.0.3", "regex==2026.11.15", "requests==2.34.2", "rich==15.0.0"],
  ...["safetensors==0.8.0", "soundfile==0.14.0", "tenacity==9.2.1", "tokenizers==0.23.3", "tqdm==4.70.1"],
  ...["transformers==5.23.0", "truststore==0.10.5", "typing_extensions==4.16.0", "urllib3==2.8.0"],
  // Model Analyzer's own.
  ...["brotli==1.2.1", "colorlog==6.12.0", "contourpy==1.3.3", "cycler==0.12.1", "distro==1.9.0", "docker==7.2.0"],
  ...["fonttools==4.68.0", "gevent==26.9.0", "geventhttpclient==2.6.1", "greenlet==3.3.2", "grpcio==1.85.1"],
  ...[
    "httplib2==0.32.1",
    "importlib_metadata==10.2.0",
    "kiwisolver==1.5.1",
    "lazy-importer==0.1.0",
    "llvmlite==0.50.0",
  ],
  ...["matplotlib==3.11.2", "ml_dtypes==0.5.4", "numba==0.68.1", "pdfkit==1.0.0", "prometheus_client==0.26.0"],
  ...["protobuf==6.33.6", "psutil==7.2.2", "pyparsing==3.3.3", "python-rapidjson==1.25", "tritonclient==2.73.0"],
  ...["zipp==4.1.2", "zope.event==6.2", "zope.interface==8.7"],
];

/** How to start the real clients. */
export interface PythonClients {
  /** The Python that runs them. */
  readonly python: string;
  /** The programs `genai-perf` and `model-analyzer`. */
  readonly genaiPerf: string;
  readonly modelAnalyzer: string;
  /** The environment they need, with the folder of a `perf_analyzer` first in PATH; no network. */
  env(perfAnalyzerFolder: string): Record<string, string>;
}

/** Installs the real genai-perf and Model Analyzer into the cache. Throws with pip's output, also when Python is older than 3.11. */
export async function installPythonClients(): Promise<PythonClients> {
  const python = await findPython();
  const folder = await installOnce(`python-clients-${python.version}`, "done", async (draft) => {
    await installPackages(python, packages, join(draft, "site"));
    writeFileSync(join(draft, "done"), "");
  });
  const site = join(folder, "site");
  const programs = join(site, "bin");
  return {
    python: python.command,
    genaiPerf: join(programs, "genai-perf"),
    modelAnalyzer: join(programs, "model-analyzer"),
    env: (perfAnalyzerFolder) => ({
      PATH: [perfAnalyzerFolder, programs, process.env["PATH"] ?? "/usr/bin:/bin"].join(delimiter),
      PYTHONPATH: site,
      // Compiled once, not at each of their starts, which took most of these tests' time.
      PYTHONDONTWRITEBYTECODE: "",
      PYTHONPYCACHEPREFIX: join(folder, "bytecode"),
      HF_HUB_OFFLINE: "1",
      TRANSFORMERS_OFFLINE: "1",
      MPLCONFIGDIR: join(folder, "matplotlib"),
    }),
  };
}
