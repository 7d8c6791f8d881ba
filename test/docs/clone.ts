/** A folder as a clone of this project after `npm ci`, with the program that was built from this source. */
import { cpSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { builtFolder } from "../cli/built.ts"
import { project } from "./Pages.ts"

export const makeClone = (folder: string): void => {
  cpSync(join(project, "bin"), join(folder, "bin"), { recursive: true })
  for (const file of ["package.json", "CHANGELOG.md", "docs/reference/gateway.1"]) {
    cpSync(join(project, file), join(folder, file))
  }
  symlinkSync(builtFolder, join(folder, "dist"))
  symlinkSync(join(project, "node_modules"), join(folder, "node_modules"))
}
