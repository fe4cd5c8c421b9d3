import { fileSystem } from "../../../runtime/files.ts";
import { withValue } from "../../options/place.ts";
import { option, type UngroupedOption } from "../settings.ts";
import { filled, GIVE_FILE, on } from "./readers.ts";

/** Options of the output. */
export const OUTPUT: readonly UngroupedOption[] = [
  option("outputs.files.perfAnalyzerCsv", {
    names: ["-f"],
    value: "FILE",
    help: "Write the results as CSV.",
    parse: filled(GIVE_FILE),
    land: (plan, { outputs }) => withValue(plan, "outputs.files.perfAnalyzerCsv", outputs.files.perfAnalyzerCsv),
  }),
  option("outputs.isVerboseCsv", { names: ["--verbose-csv"], help: "More columns in the CSV.", parse: on }),
  option("outputs.files.profileExport", {
    names: ["--profile-export-file"],
    value: "FILE",
    help: "Write every request as JSON; the file must not exist yet.",
    parse: (reader) => {
      if (fileSystem().existsSync(reader.text))
        reader.fail("Path must not already exist.", "Remove it or give another path.");
      return filled(GIVE_FILE)(reader);
    },
  }),
];
