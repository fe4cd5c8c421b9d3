import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defaultMetricsUrl, parseMetricsUrl } from "../../src/telemetry/metrics-url.ts";

/** Addresses of metrics. */

const addresses: readonly (readonly [text: string, href: string | undefined])[] = [
  ["localhost:8002/metrics", "http://localhost:8002/metrics"],
  ["localhost:8002", "http://localhost:8002/metrics"],
  ["http://host", "http://host/metrics"],
  ["host/other?name=gpu", "http://host/other?name=gpu"],
  ["https://host:9/metrics", "https://host:9/metrics"],
  ["[::1]:8002/metrics", "http://[::1]:8002/metrics"],
  ["", undefined],
  [" localhost:8002", undefined],
  ["ftp://host/metrics", undefined],
  ["host:port/metrics", undefined],
  ["host:99999/metrics", undefined],
  ["http://user:secret@host/metrics", undefined],
  ["http://host/metrics#gpu", undefined],
];

describe("the address of metrics", () => {
  for (const [text, href] of addresses) {
    test(JSON.stringify(text), () => assert.equal(parseMetricsUrl(text)?.href, href));
  }
});

const targets: readonly (readonly [target: string, metrics: string])[] = [
  ["localhost:8000", "localhost:8002/metrics"],
  ["gpu-host:8001", "gpu-host:8002/metrics"],
  ["gpu-host", "gpu-host:8002/metrics"],
  ["=gpu-host:8000", "gpu-host:8002/metrics"],
  ["http://gpu-host:8000/triton", "gpu-host:8002/metrics"],
  ["https://gpu-host", "gpu-host:8002/metrics"],
  ["[::1]:8000", "[::1]:8002/metrics"],
  ["http://[::1]", "[::1]:8002/metrics"],
];

describe("the metrics of a target are at its host's port 8002", () => {
  for (const [target, metrics] of targets) {
    test(target, () => {
      assert.equal(defaultMetricsUrl(target), metrics);
      assert.notEqual(parseMetricsUrl(metrics), undefined);
    });
  }
});
