import type { UngroupedOption } from "./option.ts";

/** Options that are recognised but not supported yet. */
export const REFUSED: readonly UngroupedOption[] = [
  refused("--triton-server-directory", "DIR", "Triton's installation for its C API.", "/opt/tritonserver"),
  refused("--model-repository", "DIR", "Models for Triton's C API.", ""),
];

/** @param onlyValues values that mean the same as leaving the option out */
function refused(name: string, value: string, help: string, ...onlyValues: readonly string[]): UngroupedOption {
  return {
    names: [name],
    value,
    help,
    onlyValues,
    read: (_settings, text, reader) => {
      if (onlyValues.includes(text)) return;
      const values = onlyValues.filter((one) => one !== "");
      const hint = values.length > 0 ? `Leave it out or give ${values.join(" or ")}.` : "Leave it out.";
      reader.refuse(`${name} is not supported yet`, hint);
    },
  };
}
