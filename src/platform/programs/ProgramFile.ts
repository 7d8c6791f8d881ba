/** Files that may be started as programs. */
import { accessSync, constants, statSync } from "node:fs"

/** Checks whether a path leads to a file that may be started. */
export const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Describes why a program was not started, behind its name. */
export const startProblem = (code: unknown): string => {
  switch (code) {
    case "ENOENT":
      return "is not there"
    case "EACCES":
      return "may not be started"
    case "ENOEXEC":
      return "is no program"
    default:
      return "could not be started"
  }
}
