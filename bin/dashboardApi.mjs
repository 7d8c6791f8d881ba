// Writes src/dashboard/api/calls.generated.ts: one line for each operation of the management contract, with its types taken from the groups by
// `import type`. What a page does not use of it is shaken out. tools.generated.ts beside it has the coding tools that a command sets up.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { dataFiles } from "./dataFiles.mjs"
import { unresolvedIsAnError } from "./threads.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const groupsFile = join(root, "src/contract/Groups.generated.ts")
const callsFile = join(root, "src/dashboard/api/calls.generated.ts")
const toolsFile = join(root, "src/dashboard/api/tools.generated.ts")

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

const toolsText = (tools) =>
  [
    "/** Coding tools that `gateway setup-<tool>` sets up. Written by `bin/dashboardApi.mjs`: do not edit. */",
    `export const tools = [${tools.map(([id, name]) => `\n  ["${id}", "${name}"]`).join(",")}\n] as const`,
    ""
  ].join("\n")

/** Writes a file where it is not `text`; true when it did. */
const keep = (file, text) => {
  if (existsSync(file) && readFileSync(file, "utf8") === text) return false
  writeFileSync(file, text)
  return true
}

/** Writes the files where they are not what the program says, and returns which. */
export const writeDashboardApi = async (rolldown) => {
  const classes = classesOf()
  const { setupTools, ...groups } = await bundled(
    rolldown,
    [
      ...classes.map(({ file, name }) => `export { ${name} } from "../${file}"`),
      'export { setupTools } from "../subjects/tools/commands/SetupTools.ts"'
    ].join("\n")
  )
  const wanted = [
    [callsFile, textOf(classes, groups)],
    [toolsFile, toolsText(setupTools)]
  ]
  return wanted.filter(([file, text]) => keep(file, text)).map(([file]) => relative(root, file))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { rolldown } = await import("rolldown")
  for (const file of await writeDashboardApi(rolldown)) process.stdout.write(`Wrote ${file}.\n`)
}
