/** The page of the dashboard, where the build has one: `dashboard/index.html` in the folder of the built program. */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The bundle is in the folder of the built program, or in one below it. */
const mostFolders = 2

const findPage = (): string | null => {
  let folder = dirname(fileURLToPath(import.meta.url))
  for (let depth = 0; depth < mostFolders; depth += 1) {
    const file = join(folder, "dashboard", "index.html")
    if (existsSync(file)) return file
    folder = dirname(folder)
  }
  return null
}

/** Null: the build has none. */
export const readDashboard: Effect.Effect<string | null> = Effect.suspend(() => {
  const file = findPage()
  return file === null ? Effect.succeed(null) : Effect.promise(() => readFile(file, "utf8"))
})
