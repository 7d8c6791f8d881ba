/** A folder that is gone with its scope. */
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-test-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
