import type { MatrixServer } from "./row.ts";
import { dynamoServer } from "./servers/dynamo.ts";
import { kserveServer } from "./servers/kserve.ts";
import { llamaServer } from "./servers/llama.ts";
import { mlServer } from "./servers/mlserver.ts";
import { torchServeServer } from "./servers/torchserve.ts";
import { tritonServer } from "./servers/triton.ts";

/** The servers of the matrix, in the order of its table. To add one, write its file and a line here. */
export const MATRIX: readonly MatrixServer[] = [
  tritonServer,
  mlServer,
  kserveServer,
  torchServeServer,
  dynamoServer,
  llamaServer,
];
