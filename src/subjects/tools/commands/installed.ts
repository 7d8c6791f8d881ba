/** Finds the coding tools on this machine, by files only: nothing is started. */
import { delimiter, isAbsolute, join } from "node:path"
import type { Places, ToolSetup } from "../../../agents/tools/config/ToolSetup.ts"
import { isProgram } from "../../../platform/programs/ProgramFile.ts"

/** More folders than any search path has. */
const mostFolders = 200

/** Variables that say where a tool's program is (`CLI_CLAUDE_BIN`), and where to look beside `PATH`. */
const ownVariable = (id: string): string => `CLI_${id.toUpperCase().replaceAll("-", "_")}_BIN`

/** Finds the program of a tool; null: it is not there. */
export const programOf = ({ id, program }: ToolSetup, { environment }: Places): string | null => {
  const own = environment.get(ownVariable(id))
  if (own !== undefined && own !== "") return isAbsolute(own) && isProgram(own) ? own : null
  if (program === null) return null
  const folders = [environment.get("CLI_EXTRA_PATHS"), environment.get("PATH")]
    .flatMap((list) => (list ?? "").split(delimiter))
    .filter(isAbsolute)
    .slice(0, mostFolders)
  return folders.map((folder) => join(folder, program)).find(isProgram) ?? null
}
