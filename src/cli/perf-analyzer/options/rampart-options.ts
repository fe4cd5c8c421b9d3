import { fieldOf } from "../../../plan/objects.ts";
import { option, type UngroupedOption } from "../settings.ts";
import { filled, on } from "./readers.ts";

/** Options that Rampart adds to this mode only. */
export const RAMPART_OPTIONS: readonly UngroupedOption[] = [
  option("protoFiles", {
    names: ["--proto"],
    isRampart: true,
    setting: "target.protoFiles",
    feature: "method",
    value: "FILE",
    defaultText: "the server's reflection",
    isRepeatable: true,
    help: "The .proto file that describes the method and its messages. Needs --service-kind dynamic_grpc.",
    parse: (reader, before) => [...before, filled("Give the path of a .proto file.")(reader)],
    of: ({ target }) => fieldOf(target, "protoFiles") ?? [],
    format: (files) => files,
  }),
  option("importPaths", {
    names: ["--proto-path"],
    isRampart: true,
    setting: "target.importPaths",
    feature: "method",
    value: "DIR",
    defaultText: "the folder of each file, and those above it",
    isRepeatable: true,
    help: "Folder in which --proto files and their imports are looked for first.",
    parse: (reader, before) => [...before, filled("Give the path of a folder.")(reader)],
    of: ({ target }) => fieldOf(target, "importPaths") ?? [],
    format: (folders) => folders,
  }),
  option("isHelp", { names: ["--help", "-h"], isRampart: true, help: "Print this help and exit.", parse: on }),
];
