/** Whether a path leads to a file that may be started. */
import { accessSync, constants, statSync } from "node:fs"

export const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
