import { execFileSync } from "node:child_process";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The types of the scenario API with their doc comments, as `deno doc` reads them from the source. */

const root = join(import.meta.dirname, "..", "..");

/** A type as `deno doc --json` prints it; only what is read here. */
interface DocType {
  readonly kind: string;
  readonly repr?: string;
  readonly value?: unknown;
}

interface DocProperty {
  readonly name: string;
  readonly optional?: boolean;
  readonly jsDoc?: { readonly doc?: string };
  readonly tsType?: DocType;
}

interface DocParam {
  readonly kind: string;
  readonly name?: string;
  /** Of a parameter that takes all further arguments. */
  readonly arg?: DocParam;
  readonly optional?: boolean;
  readonly tsType?: DocType;
  readonly left?: DocParam;
}

interface DocDeclaration {
  readonly kind: string;
  readonly declarationKind: "export" | "private" | "declare";
  readonly jsDoc?: { readonly doc?: string };
  readonly def: {
    readonly typeParams?: readonly { readonly name: string; readonly constraint?: DocType }[];
    readonly tsType?: DocType;
    readonly extends?: readonly DocType[];
    readonly properties?: readonly DocProperty[];
    readonly params?: readonly DocParam[];
    readonly returnType?: DocType;
  };
}

type Generics = DocDeclaration["def"]["typeParams"] & object;

/** One field of an options type. */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
  /** Its doc comment; empty where it has none. */
  readonly doc: string;
}

/** Names of the parameters that are objects of options, or lists of them. */
const OPTION_PARAMS = ["options", "definition", "members"];

/** The declarations of the API by name. */
export class ScenarioTypes {
  private readonly declarations = new Map<string, readonly DocDeclaration[]>();
  private readonly functions = new Map<string, readonly string[]>();

  constructor() {
    const files = ["src/scenario/*.ts", "src/scenario/*/*.ts", "src/plan/*.ts", "src/inputs/tagged-input.ts"];
    const command = `"${join(root, "node_modules", ".bin", "deno")}" doc --json --private ${files.join(" ")}`;
    // It warns of the types of node: modules, which are not wanted here.
    const printed = execFileSync("sh", ["-c", command], {
      cwd: root,
      // Without it the texts of types are coloured.
      env: { ...process.env, NO_COLOR: "1" },
      maxBuffer: 2 ** 26,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const { nodes } = JSON.parse(printed.toString()) as {
      nodes: Record<string, { symbols: readonly { name: string; declarations: readonly DocDeclaration[] }[] }>;
    };
    for (const [file, { symbols }] of Object.entries(nodes)) {
      for (const { name, declarations } of symbols) {
        const own = declarations.filter(({ kind }) => kind !== "reference");
        if (own.length > 0 && !this.declarations.has(name)) this.declarations.set(name, own);
      }
      const functions = symbols.filter(({ declarations }) => declarations.some(({ kind }) => kind === "function"));
      this.functions.set(
        relative(root, fileURLToPath(file)).replaceAll("\\", "/"),
        functions.map(({ name }) => name),
      );
    }
  }

  /** The names of a file's functions, in its order. */
  functionsIn(file: string): readonly string[] {
    return this.functions.get(file) ?? [];
  }

  /** The types of the options that a function takes. Types that only change others are left out: these describe the fields. */
  optionTypesOf(name: string): string[] {
    const names = this.find(name).flatMap(({ def: { params = [], typeParams } }) =>
      params.flatMap((param) => {
        const { name: own = "", tsType } = param.left ?? param;
        return tsType !== undefined && OPTION_PARAMS.includes(own) ? namesIn(tsType, typeParams) : [];
      }),
    );
    return [...new Set(names)].filter((type) => {
      const declaration = this.declarations.get(type)?.[0];
      if (declaration?.declarationKind !== "export") return false;
      return declaration.def.tsType === undefined || this.canExpand(declaration.def.tsType);
    });
  }

  /** The doc comment of a type or function, its first paragraph in one line. */
  docOf(name: string): string {
    return toLine(this.find(name).find(({ jsDoc }) => jsDoc?.doc !== undefined)?.jsDoc?.doc ?? "");
  }

  /** The fields of an options type. @param names several are the members of a union */
  fieldsOf(...names: readonly string[]): Field[] {
    return joinMembers(
      names.map((name) =>
        this.find(name).flatMap(({ def }) => [
          ...(def.tsType === undefined ? [] : this.expand(def.tsType)),
          ...(def.properties ?? []).flatMap((property) => this.toFields(property, def.typeParams)),
          ...(def.extends ?? []).flatMap((type) => this.expand(type)),
        ]),
      ),
    );
  }

  /** The parameters of a function as a signature shows them. */
  paramsOf(name: string): string[] {
    return (this.find(name)[0]?.def.params ?? []).map((param) => {
      const { name: own = "", optional = false } = param.arg ?? param.left ?? param;
      return param.kind === "rest" ? `...${own}` : `${own}${optional || param.left !== undefined ? "?" : ""}`;
    });
  }

  private find(name: string): readonly DocDeclaration[] {
    const found = this.declarations.get(name);
    if (found === undefined) throw new Error(`the scenario API has no ${name}`);
    return found;
  }

  private canExpand({ kind, value }: DocType): boolean {
    if (kind === "typeRef") return this.declarations.has((value as { typeName: string }).typeName);
    if (kind === "parenthesized") return this.canExpand(value as DocType);
    if (kind === "typeLiteral") return true;
    return (
      ["union", "intersection"].includes(kind) && (value as readonly DocType[]).every((one) => this.canExpand(one))
    );
  }

  /** The fields that a type brings to an options type. */
  private expand(type: DocType): Field[] {
    switch (type.kind) {
      case "typeRef":
        return this.fieldsOf((type.value as { typeName: string }).typeName);
      case "parenthesized":
        return this.expand(type.value as DocType);
      case "union":
        return joinMembers((type.value as readonly DocType[]).map((member) => this.expand(member)));
      case "intersection":
        return joinParts((type.value as readonly DocType[]).flatMap((member) => this.expand(member)));
      case "typeLiteral":
        return (type.value as { properties: readonly DocProperty[] }).properties.flatMap((field) =>
          this.toFields(field),
        );
      default:
        throw new Error(`an options type of kind ${type.kind} is not known`);
    }
  }

  /** None for a field that a member of a union forbids. @param generics the type parameters of the options type */
  private toFields({ name, optional = false, jsDoc, tsType }: DocProperty, generics: Generics = []): Field[] {
    const constraint = generics.find((generic) => generic.name === tsType?.repr)?.constraint;
    const type = tsType === undefined ? "" : this.format(constraint ?? tsType);
    return type === "never" ? [] : [{ name, type, isOptional: optional, doc: toLine(jsDoc?.doc ?? "") }];
  }

  /** A type as the reference prints it: parameters of types, and `readonly`, are left out. */
  private format(type: DocType): string {
    const { kind, repr = "", value } = type;
    const join = (types: readonly DocType[], separator: string): string =>
      types.map((member) => this.format(member)).join(separator);
    switch (kind) {
      case "literal":
        return (value as { kind: string }).kind === "string" ? JSON.stringify(repr) : repr;
      case "array":
        return `${this.format(value as DocType)}[]`;
      case "union":
        return join(value as readonly DocType[], " | ");
      case "conditional": {
        const { trueType, falseType } = value as { readonly trueType: DocType; readonly falseType: DocType };
        const either = [trueType, falseType].map((one) => this.format(one));
        return either.includes("boolean") ? "boolean" : [...new Set(either)].join(" | ");
      }
      case "fnOrConstructor":
        return "function";
      case "parenthesized": {
        const inner = this.format(value as DocType);
        return inner === "function" ? inner : `(${inner})`;
      }
      case "typeOperator":
        return this.format((value as { tsType: DocType }).tsType);
      case "tuple":
        return `[${join(value as readonly DocType[], ", ")}]`;
      case "typeLiteral":
        return `{ ${(value as { properties: readonly DocProperty[] }).properties.map(({ name, optional }) => name + (optional ? "?" : "")).join(", ")} }`;
      case "typeRef":
        return this.formatReference(value as { typeName: string; typeParams?: readonly DocType[] });
      default:
        return repr;
    }
  }

  private formatReference({
    typeName,
    typeParams = [],
  }: {
    typeName: string;
    typeParams?: readonly DocType[];
  }): string {
    const members = this.declarations.get(typeName)?.[0]?.def.tsType;
    const values = members?.kind === "union" ? (members.value as readonly DocType[]) : [];
    if (values.length > 0 && values.every(isPlainLiteral)) return this.format(members as DocType);
    if (typeName === "Readonly" && typeParams[0] !== undefined) return this.format(typeParams[0]);
    if (typeName === "Record") return `{ name: ${typeParams[1] === undefined ? "" : this.format(typeParams[1])} }`;
    return typeName;
  }
}

/** A literal, but not a template: that is known by the name of its type. */
function isPlainLiteral({ kind, value }: DocType): boolean {
  return kind === "literal" && (value as { kind: string }).kind !== "template";
}

/** The names of the types that a type consists of. @param generics the type parameters of the function that takes it */
function namesIn(type: DocType, generics: Generics = []): string[] {
  const { kind, value } = type;
  if (kind === "typeRef") {
    const { typeName } = value as { readonly typeName: string };
    const generic = generics.find(({ name }) => name === typeName);
    if (generic === undefined) return [typeName];
    return generic.constraint === undefined ? [] : namesIn(generic.constraint, generics);
  }
  if (kind === "typeOperator") return namesIn((value as { tsType: DocType }).tsType, generics);
  if (["array", "parenthesized", "rest"].includes(kind)) return namesIn(value as DocType, generics);
  return ["union", "intersection", "tuple"].includes(kind)
    ? (value as readonly DocType[]).flatMap((one) => namesIn(one, generics))
    : [];
}

/** The fields of an intersection: what several parts have stands once, and is required if one of them requires it. */
function joinParts(fields: readonly Field[]): Field[] {
  const first = fields.filter(({ name }, at) => fields.findIndex((other) => other.name === name) === at);
  return first.map((field) => ({
    ...field,
    isOptional: fields.every(({ name, isOptional }) => name !== field.name || isOptional),
  }));
}

/** The fields of a union: one that a member lacks is optional. */
function joinMembers(members: readonly (readonly Field[])[]): Field[] {
  const names = new Set(members.flatMap((fields) => fields.map(({ name }) => name)));
  return Array.from(names, (name) => {
    const found = members.flatMap((fields) => fields.filter((field) => field.name === name));
    return {
      name,
      type: [...new Set(found.flatMap(({ type }) => type.split(" | ")))].join(" | "),
      isOptional: found.length < members.length || found.some(({ isOptional }) => isOptional),
      doc: found.find(({ doc }) => doc !== "")?.doc ?? "",
    };
  });
}

/** In one line, with links as code. */
function toLine(doc: string): string {
  return doc
    .replace(/\n\s*(\n|@)[\s\S]*/, "")
    .replace(/\s+/g, " ")
    .replace(/ @(param|example|returns|throws).*/, "")
    .replace(/\{@link (?:\w+\.)*(\w+)\}/g, "`$1`")
    .trim();
}
