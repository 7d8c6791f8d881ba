// Builds the addon of the transparent capture mode with the node-gyp that comes with npm: `npm run build:native`. No installation runs this, and
// without the addon everything but that mode works.
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const folder = dirname(fileURLToPath(import.meta.url))

const fail = (reason) => {
  process.stderr.write(`The addon for transparent capture was not built: ${reason}\n`)
  process.exit(1)
}

if (process.platform !== "linux") fail("it is for Linux alone.")

const gyp =
  process.env.npm_config_node_gyp ??
  join(dirname(process.env.npm_execpath ?? ""), "../node_modules/node-gyp/bin/node-gyp.js")
if (!existsSync(gyp)) fail("node-gyp was not found. Start this with 'npm run build:native'.")

// Headers that are installed beside Node are taken where npm is not told of others: then nothing is fetched.
const beside = join(dirname(process.execPath), "..")
const hasHeaders = existsSync(join(beside, "include/node/node_api.h"))
const nodedir = process.env.npm_config_nodedir ?? (hasHeaders ? beside : undefined)

const { error, status } = spawnSync(
  process.execPath,
  [gyp, "rebuild", "--directory", folder, ...(nodedir === undefined ? [] : ["--nodedir", nodedir])],
  { stdio: ["ignore", "inherit", "inherit"] }
)
if (error !== undefined) fail(error.message)
if (status !== 0) fail(`node-gyp ended with ${status}. It needs python3, make and a C compiler.`)
process.stdout.write(`Built ${join(folder, "build/Release/tproxy.node")}\n`)
