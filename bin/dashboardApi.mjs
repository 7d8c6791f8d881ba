// Writes src/dashboard/api/calls.generated.ts: one line for each operation of the management contract, with its types taken from the groups by
// `import type`. What a page does not use of it is shaken out.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { dataFiles } from "./dataFiles.mjs"
import { unresolvedIsAnError } from "./threads.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const groupsFile = join(root, "src/contract/Groups.generated.ts")
const callsFile = join(root, "src/dashboard/api/calls.generated.ts")

/** Modules and names of the groups' classes. */
const classesOf = () =>
  [...readFileSync(groupsFile, "utf8").matchAll(/^import \{ (\w+) \} from "\.\.\/(subjects\/\w+\/routes\.ts)"/gm)].map(
    ([, name, file]) => ({ name, file })
  )

/** Bundles a text that imports from src/contract, and gives what it exports. */
export const bundled = async (rolldown, code) => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-contract-"))
  const entry = join(root, "src/contract/entry.ts")
  const bundle = await rolldown({
    input: "entry",
    cwd: root,
    platform: "node",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === "entry" ? entry : null),
        load: (id) => (id === entry ? code : null)
      },
      dataFiles
    ],
    onLog: unresolvedIsAnError
  })
  try {
    const file = join(folder, "contract.mjs")
    await bundle.write({ file, format: "esm", codeSplitting: false })
    return await import(pathToFileURL(file).href)
  } finally {
    await bundle.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const upper = (text) => `${text[0].toUpperCase()}${text.slice(1)}`

const textOf = (classes, groups) => {
  const imports = classes.map(({ file, name }) => `import type { ${name} } from "../../${file}"`)
  const calls = classes.flatMap(({ name }) =>
    Object.values(groups[name].endpoints).map(({ method, name: endpoint, path }) => {
      const called = `${groups[name].identifier}${upper(endpoint)}`
      return `export const ${called}: Call<typeof ${name}, "${endpoint}"> = /* @__PURE__ */ call("${method}", "${path}")`
    })
  )
  return [
    "/** Calls of the management API. Written by `bin/dashboardApi.mjs`: do not edit. */",
    'import { call, type Call } from "./client.ts"',
    ...imports,
    "",
    ...calls,
    ""
  ].join("\n")
}

/** Writes the file where it is not what the contract says; true when it did. */
export const writeDashboardApi = async (rolldown) => {
  const classes = classesOf()
  const groups = await bundled(
    rolldown,
    classes.map(({ file, name }) => `export { ${name} } from "../${file}"`).join("\n")
  )
  const text = textOf(classes, groups)
  if (existsSync(callsFile) && readFileSync(callsFile, "utf8") === text) return false
  writeFileSync(callsFile, text)
  return true
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { rolldown } = await import("rolldown")
  if (await writeDashboardApi(rolldown)) process.stdout.write("Wrote src/dashboard/api/calls.generated.ts.\n")
}
