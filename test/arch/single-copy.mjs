// Two copies of effect break every tag; two of undici split the connection pools; two of the router would not be the framework's own. Fails when either is installed twice.
import { readdirSync, readFileSync, existsSync } from "node:fs"
import { join } from "node:path"

const wanted = new Set(["effect", "undici", "find-my-way-ts"])
const found = new Map([...wanted].map((name) => [name, []]))

const visit = (modules) => {
  if (!existsSync(modules)) return
  for (const entry of readdirSync(modules, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name.startsWith(".")) continue
    const folder = join(modules, entry.name)
    if (entry.name.startsWith("@")) {
      visit(folder)
      continue
    }
    if (wanted.has(entry.name) && existsSync(join(folder, "package.json"))) {
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
      if (manifest.name === entry.name) found.get(entry.name).push(`${manifest.version} at ${folder}`)
    }
    visit(join(folder, "node_modules"))
  }
}
visit(new URL("../../node_modules", import.meta.url).pathname)

const wrong = [...found].filter(([, copies]) => copies.length !== 1)
for (const [name, copies] of wrong)
  process.stderr.write(`${name}: ${copies.length} copies installed\n  ${copies.join("\n  ")}\n`)
if (wrong.length > 0) process.exit(1)
process.stdout.write(
  `one copy each: ${[...found].map(([name, [copy]]) => `${name} ${copy.split(" ")[0]}`).join(", ")}\n`
)
