/** Installs an agent on demand, each in a folder of its own outside the repository, and says where its command is. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Package } from "./Agents.ts"

const cache =
  process.env["GATEWAY_AGENTS_DIR"] ??
  join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "gateway-agents")

const installedVersion = (folder: string, name: string): string | null => {
  const manifest = join(folder, "node_modules", name, "package.json")
  return existsSync(manifest) ? (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version : null
}

const flags = ["--save-exact", "--no-audit", "--no-fund", "--loglevel=error"]

/** Folder of libraries that are installed together: the one that `node_modules` is in. */
export const ensureAll = (name: string, packages: ReadonlyArray<Package>): string => {
  const folder = join(cache, name)
  if (packages.some((each) => installedVersion(folder, each.name) !== each.version)) {
    process.stdout.write(`installing ${name}\n`)
    mkdirSync(folder, { recursive: true })
    const wanted = packages.map((each) => `${each.name}@${each.version}`)
    execFileSync("npm", ["install", "--prefix", folder, ...flags, ...wanted], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"]
    })
  }
  return join(folder, "node_modules")
}

/** Path of the agent's command; what is there is used when its version is the wanted one. */
export const ensure = ({ command, file, name, version }: Package): string => {
  const folder = join(cache, name.replaceAll(/[@/]/gu, "_"))
  if (installedVersion(folder, name) !== version) {
    process.stdout.write(`installing ${name}@${version}\n`)
    mkdirSync(folder, { recursive: true })
    execFileSync("npm", ["install", "--prefix", folder, ...flags, `${name}@${version}`], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"]
    })
  }
  return file === undefined ? join(folder, "node_modules/.bin", command) : join(folder, "node_modules", name, file)
}
