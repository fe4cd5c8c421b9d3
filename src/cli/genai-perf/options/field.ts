import type { SettingPath } from "./settings.ts";

/** What the table of YAML keys is made of. */

/** What a value may be. `file` is a path, `synthetic:…` or `payload:…`. */
export type FieldKind =
  | "text"
  | "path"
  | "file"
  | "boolean"
  | "integer"
  | "decimal"
  | "texts"
  | "integers"
  | "decimals"
  | "object"
  | "goodput"
  | "headers"
  | "stimulus"
  | "sweeps";

/** One key with a value. */
export interface Field {
  readonly key: string;
  /** Another spelling that files may use. */
  readonly alias?: string;
  readonly at: SettingPath;
  readonly kind: FieldKind;
  readonly choices?: readonly (string | number)[];
  readonly min?: number;
  readonly max?: number;
  /** Comment in every template. */
  readonly note?: string;
  /** Comment in verbose templates; lines by `\n`. */
  readonly about?: string;
  /** Set where the template shows a comment only. */
  readonly isCommented?: boolean;
  /** Set where a null is a mistake and not "not given". */
  readonly isRequired?: boolean;
}

/** A key with keys below it, in the order in which the original exports them. */
export interface FieldGroup {
  readonly key: string;
  /** The group's name in errors, as the original says it. */
  readonly label: string;
  readonly entries: readonly (Field | FieldGroup)[];
  /** Rampart's own: only in verbose templates, and not in the exported configuration. */
  readonly isOwn?: boolean;
}

/** Tells the two apart. */
export function isGroup(entry: Field | FieldGroup): entry is FieldGroup {
  return "entries" in entry;
}
