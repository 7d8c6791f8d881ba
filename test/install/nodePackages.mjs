/** Programs of Node as the registry has them, kept in the checkout's cache. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Versions that are tested, by major version: 22 is what image and docs use, 24 the newest with long support. 20, the oldest that works, runs the tests. */
export const versions = { 22: "22.23.3", 24: "24.21.0" }

/** Gets a package of the registry; returns its folder, or null when it cannot be had here. */
export const packageFolder = (name, version) => {
  const prefix = join(root, "node_modules/.cache/nodes", name === "npm" ? `npm-${version}` : version)
  const folder = join(prefix, "node_modules", name)
  if (existsSync(join(folder, "package.json"))) return folder
  mkdirSync(prefix, { recursive: true })
  writeFileSync(join(prefix, "package.json"), "{}\n")
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
  const got = spawnSync("npm", ["install", ...flags, `${name}@${version}`], {
    cwd: prefix,
    stdio: ["ignore", "ignore", "inherit"]
  })
  return got.status === 0 && existsSync(join(folder, "package.json")) ? folder : null
}

/** Gets a version of Node for this platform; returns the folder of its program, or null. */
export const nodeFolder = (version) => {
  const folder = packageFolder(`node-${process.platform}-${process.arch}`, version)
  return folder === null ? null : join(folder, "bin")
}
