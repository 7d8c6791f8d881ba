/** The peer, installed on demand into a folder of its own so that the project never depends on it. */
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

const PACKAGE = "@portkey-ai/gateway"
export const PORTKEY_VERSION = "1.15.2"
const INSTALL_LIMIT_MS = 150_000

const cacheFolder = () => process.env.BENCH_CACHE_DIR ?? fileURLToPath(new URL("../.cache", import.meta.url))
const portkeyFolder = () => path.join(cacheFolder(), "portkey")
const portkeyHome = () => path.join(portkeyFolder(), "node_modules", PACKAGE)

export const portkeyProgram = () => path.join(portkeyHome(), "build", "start-server.js")

const installedVersion = () => {
  const manifest = path.join(portkeyHome(), "package.json")
  return fs.existsSync(manifest) ? JSON.parse(fs.readFileSync(manifest, "utf8")).version : undefined
}

/** Installs the peer unless it is there; rejects with a reason when it cannot be had. */
export const installPortkey = async (processes) => {
  if (installedVersion() === PORTKEY_VERSION) return
  const folder = portkeyFolder()
  fs.mkdirSync(folder, { recursive: true })
  // A manifest of its own keeps npm from walking up to the project's.
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: "bench-peer", private: true }))
  const flags = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
  const npm = processes.start("npm", ["install", `${PACKAGE}@${PORTKEY_VERSION}`, ...flags], { cwd: folder })
  const timer = setTimeout(() => npm.stop(2_000), INSTALL_LIMIT_MS)
  const { code } = await npm.finished
  clearTimeout(timer)
  if (code !== 0 || installedVersion() !== PORTKEY_VERSION)
    throw npm.complaint(`could not install ${PACKAGE}@${PORTKEY_VERSION}`)
}
