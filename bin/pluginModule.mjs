// The module "gateway/plugin" for projects that have the gateway as a dependency: the very file that runs inside the sandbox, and its types.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { unresolvedIsAnError } from "./threads.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The types are made from schemas, so what makes them is bundled and run. */
const typesOf = async (rolldown) => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-types-"))
  const bundle = await rolldown({
    input: join(root, "src/agents/plugins/sdk/Declarations.ts"),
    cwd: root,
    platform: "node",
    onLog: unresolvedIsAnError
  })
  try {
    const file = join(folder, "types.mjs")
    await bundle.write({ file, format: "esm", codeSplitting: false })
    const { moduleTypes } = await import(pathToFileURL(file).href)
    return moduleTypes()
  } finally {
    await bundle.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes both into the folder of the program; `exports` of package.json names them. */
export const writePluginModule = async (rolldown, folder) => {
  copyFileSync(join(root, "src/agents/plugins/sandbox/inside/sdk.js"), join(folder, "plugin.mjs"))
  const head = "// Types of \"gateway/plugin\". Globals of the sandbox are in what 'gateway plugin new' writes.\n"
  writeFileSync(join(folder, "plugin.d.mts"), `${head}${await typesOf(rolldown)}\n`)
}
