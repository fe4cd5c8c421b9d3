import { parseJson } from "../../plan/objects.ts";
import { RunError } from "../../plan/problem.ts";
import { listNames } from "../../plan/show-value.ts";
import { decoder } from "../../runtime/text.ts";
import { type Ask, modelNamed, type Query, SEPARATE_REQUESTS, type Service, type ServiceFront } from "../service.ts";
import { createTorchServeCodec, predictionPath } from "./codec.ts";
import { listTorchServeModels, managementUrlsOf } from "./list-models.ts";
import type { TorchServeTargetPlan } from "./target.ts";

/** Creates the front of a target. TorchServe does not describe a model's inputs, so the only query is whether the model exists. */
export function createTorchServeFront(target: TorchServeTargetPlan, defaultPort: number): ServiceFront {
  const management = managementUrlsOf(target, defaultPort);
  return {
    setUp: async (ask) => {
      // Both queries are sent before either is awaited.
      const [health, isKnown] = [askHealth(ask), checkModel(target, ask, management)];
      health.catch(() => {});
      await isKnown;
      return describeService(target, await health);
    },
    listModels: (ask) => listTorchServeModels(ask, management),
  };
}

/** Returns a warning when the server is not healthy. */
async function askHealth(ask: Ask): Promise<string[]> {
  try {
    const status = await ask(query("GET", "/ping", readStatus), "the server's health");
    return status === "Healthy" ? [] : [`the server reports that it is ${status}: some models may have no worker.`];
  } catch (error) {
    const status = statusOf(error);
    if (status === undefined) throw error;
    // A gateway may lack the path of the health check.
    return status < 500 ? [] : [`the server's health check has HTTP status ${status}: some models may have no worker.`];
  }
}

/** @throws RunError if the server lacks the model, with the names of its models, or cannot be reached */
async function checkModel(
  target: TorchServeTargetPlan,
  ask: Ask,
  management: readonly (string | undefined)[],
): Promise<void> {
  try {
    await ask(
      query("OPTIONS", predictionPath(target), (body) => body.length),
      "the model",
    );
  } catch (error) {
    if (statusOf(error) === undefined) throw error;
    // A gateway may not forward this method. Then the first prediction shows whether the model exists.
    if (!(error instanceof RunError) || !/Model not found|Model version: .* does not exist/.test(error.message)) return;
    // Do not mention that the query failed: otherwise the diagnosis would check which other kind of server this is.
    throw new RunError("refused", error.message, await hintAtModels(ask, management));
  }
}

async function hintAtModels(ask: Ask, management: readonly (string | undefined)[]): Promise<string> {
  try {
    const names = (await listTorchServeModels(ask, management)).map(({ name }) => name);
    if (names.length === 0) return "The server has no model. Register one with its management API.";
    return `The server has ${listNames(names)}.`;
  } catch {
    return "Check the model's name and version, and that the server has loaded it.";
  }
}

/** Returns the HTTP status with which a query failed; undefined for any other failure. */
function statusOf(error: unknown): number | undefined {
  const failure = error instanceof RunError ? error.facts.failure : undefined;
  return failure?.kind === "http" ? (failure.status ?? 0) : undefined;
}

function query(method: "GET" | "OPTIONS", path: string, read: Query["read"]): Query {
  return {
    request: { path, method, headers: [], payload: new Uint8Array(0) },
    read,
    // The description of a model is long, and the same for each model.
    format: (body) =>
      method === "OPTIONS" ? `${body.length} bytes that describe the model's API` : decoder.decode(body),
  };
}

/** Returns the status in `{"status": "Healthy"}`. A server that responds in another form counts as healthy. */
function readStatus(body: Uint8Array): string {
  const { status } = (parseJson(decoder.decode(body)) ?? {}) as { status?: unknown };
  return typeof status === "string" ? status : "Healthy";
}

function describeService(target: TorchServeTargetPlan, warnings: readonly string[]): Service {
  const { model, modelVersion } = target;
  return {
    model: modelNamed(model, modelVersion),
    codec: createTorchServeCodec(target),
    wire: "http",
    ...SEPARATE_REQUESTS,
    warnings,
  };
}
