/** The inspector's thread as the build makes it, for tests that run it from source. */
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { rolldown } from "rolldown"
import { buildThread } from "../../bin/threads.mjs"
import { temporaryFolder } from "./TemporaryFolder.ts"

export const bodyThread = Effect.gen(function* () {
  const file = join(yield* temporaryFolder, "bodyThread.mjs")
  yield* Effect.promise(() => buildThread(rolldown, "src/observe/inspector/work/bodyThread.mjs", file))
  return pathToFileURL(file)
})
