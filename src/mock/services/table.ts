import { grpcProtoService } from "./grpc-proto.ts";
import type { MockService } from "./service.ts";
import { tfServingService } from "./tfserving.ts";
import { torchServeMock } from "./torchserve.ts";

/** The protocols of `rampart mock` besides KServe v2 and OpenAI's API, by option. To add one, add a file and a line here. */
export const MOCK_SERVICES: Readonly<Record<string, MockService>> = {
  proto: grpcProtoService,
  tfserving: tfServingService,
  torchserve: torchServeMock,
};
