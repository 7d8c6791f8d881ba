// The empty database that a new data folder begins with (src/store/EmptyDatabase.ts): made by the migrations themselves, which are bundled and run.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { compressed } from "./compressed.mjs"
import { unresolvedIsAnError } from "./threads.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const driver = join(root, "bin/sqlite.cjs")

const entry = {
  name: "empty-database",
  resolveId: (id) => {
    if (id === "better-sqlite3") return { id: pathToFileURL(driver).href, external: true }
    return id === "entry" ? join(root, "src/store/entry.ts") : null
  },
  load: (id) =>
    id === join(root, "src/store/entry.ts")
      ? `import * as Effect from "effect/Effect"
         import { migrations } from "./migrations/index.ts"
         import { emptyDatabase } from "./Sql.ts"
         export const made = await Effect.runPromise(emptyDatabase(migrations))`
      : null
}

export const writeEmptyDatabase = async (rolldown, folder) => {
  const scratch = mkdtempSync(join(tmpdir(), "gateway-database-"))
  const bundle = await rolldown({
    input: "entry",
    cwd: root,
    platform: "node",
    plugins: [entry],
    onLog: unresolvedIsAnError
  })
  try {
    const file = join(scratch, "database.mjs")
    await bundle.write({ file, format: "esm", codeSplitting: false })
    const { made } = await import(pathToFileURL(file).href)
    writeFileSync(join(folder, "empty.sqlite.br"), await compressed(made))
  } finally {
    await bundle.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}
