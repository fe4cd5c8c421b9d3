const START = 'declare module "rampart" {\n';
const END = "\n}\n";

/**
 * Turns the declarations of the module `rampart` into a file that is that module, for the package's `types`.
 * @param declarations what `makeDeclarations` returns
 * @throws when they have another form
 */
export function toModule(declarations: string): string {
  const start = declarations.indexOf(START);
  if (start < 0 || !declarations.endsWith(END)) throw new Error("the declarations are not one module");
  return `${declarations
    .slice(start + START.length, -END.length)
    .replace(/^ {2}/gm, "")
    .replace(/^(?=(?:abstract class|class|const|function|let|namespace) )/gm, "declare ")}\n`;
}
