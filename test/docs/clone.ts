/** A folder as a clone of this project after `npm ci`, with the program that was built from this source. */
import { cpSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { builtFolder } from "../cli/built.ts"
import { project } from "./Pages.ts"

export const makeClone = (folder: string): void => {
  cpSync(join(project, "bin"), join(folder, "bin"), { recursive: true })
  cpSync(join(project, "package.json"), join(folder, "package.json"))
  symlinkSync(builtFolder, join(folder, "dist"))
  symlinkSync(join(project, "node_modules"), join(folder, "node_modules"))
}
