/** Finds a program. Pure but for looking at files. */
import { delimiter, isAbsolute, join } from "node:path"
import { isProgram } from "../../../platform/programs/ProgramFile.ts"

/** Folders that are searched besides the PATH: where installers of tools put them. */
const usualFolders = (home: string): ReadonlyArray<string> => [
  join(home, ".local/bin"),
  join(home, ".npm-global/bin"),
  join(home, ".bun/bin"),
  join(home, ".cargo/bin"),
  "/usr/local/bin",
  "/opt/homebrew/bin"
]

export type Found =
  | { readonly _tag: "Found"; readonly path: string }
  /** `reason` is a part of a sentence. */
  | { readonly _tag: "Missing"; readonly reason: string }

/** `CLI_CLAUDE_BIN` of `claude`. */
export const overrideOf = (id: string): string => `CLI_${id.replaceAll(/\W/g, "_").toUpperCase()}_BIN`

/** Most folders of a PATH that are looked at. */
const mostFolders = 200

/** A program by its name or its absolute path. */
export const find = (id: string, binary: string, environment: ReadonlyMap<string, string>, home: string): Found => {
  const override = environment.get(overrideOf(id))
  if (override !== undefined && override !== "") {
    return isAbsolute(override) && isProgram(override)
      ? { _tag: "Found", path: override }
      : { _tag: "Missing", reason: `${overrideOf(id)} names no program` }
  }
  if (isAbsolute(binary)) {
    return isProgram(binary) ? { _tag: "Found", path: binary } : { _tag: "Missing", reason: "is not there" }
  }
  const folders = [environment.get("PATH") ?? "", environment.get("CLI_EXTRA_PATHS") ?? ""]
    .flatMap((list) => list.split(delimiter))
    .concat(usualFolders(home))
    .filter((folder) => isAbsolute(folder))
    .slice(0, mostFolders)
  const path = folders.map((folder) => join(folder, binary)).find(isProgram)
  return path === undefined ? { _tag: "Missing", reason: "is not on the PATH" } : { _tag: "Found", path }
}
