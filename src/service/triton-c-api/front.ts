import { RunError, UserError } from "../../plan/problem.ts";
import { thisProgram } from "../../runtime/this-program.ts";
import type { ServiceFront, StartedServer } from "../service.ts";
import { toServiceFront } from "../triton/front.ts";
import { createGrpcCodec } from "../triton/grpc-codec.ts";
import { httpApi } from "../triton/http-api.ts";
import { checkInstallation, findLibrary } from "./find-library.ts";
import { startTritonProcess } from "./start-process.ts";
import { type TritonInProcessTargetPlan, toTritonTarget } from "./target.ts";

/** Opens Triton in process. Queries are JSON, as the library returns it; requests are messages, whose tensors are never text. */
export function openInProcess(target: TritonInProcessTargetPlan): ServiceFront {
  const { isStreaming, parameters } = target;
  return toServiceFront(toTritonTarget(target), {
    api: httpApi,
    isInProcess: true,
    createCodec: (model) => createGrpcCodec(model, { isStreaming, parameters }),
  });
}

/** Starts the process with Triton's library. @throws UserError if the installation lacks something, and RunError */
export function startInProcess(target: TritonInProcessTargetPlan): StartedServer {
  const problems = checkInstallation(target);
  if (problems.length > 0) throw new UserError(problems);
  if (process.platform !== "linux")
    throw new RunError("unsupported", "Triton in process needs Linux", "Measure a Triton server over the network.");
  return startTritonProcess(target, findLibrary(target.directory) as string, thisProgram());
}
