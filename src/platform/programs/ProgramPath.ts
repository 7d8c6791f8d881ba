/** Finds installed programs by their name, as a shell would. */
import * as Effect from "effect/Effect"
import { delimiter, isAbsolute, join } from "node:path"
import { isProgram } from "./ProgramFile.ts"

/** Most folders of a list that are searched. */
const mostFolders = 200

/** The absolute path of the first program of that name in the folders of `PATH`; null when there is none. */
export const findProgram = (environment: ReadonlyMap<string, string>, name: string): Effect.Effect<string | null> =>
  Effect.sync(() => {
    const folders = (environment.get("PATH") ?? "").split(delimiter, mostFolders).filter(isAbsolute)
    return folders.map((folder) => join(folder, name)).find(isProgram) ?? null
  })
