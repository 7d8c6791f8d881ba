// Builds the gateway, starts it, and does both again whenever a file under src changes: npm run dev -- [arguments of `gateway serve`].
// A build that fails is reported, and the gateway that runs goes on.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { watch } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const out = join(root, "node_modules/.cache/gateway-dev")
const serveArgs = process.argv.slice(2)
/** Editors write a file in several steps. */
const settleMs = 150

let server = null
let timer = null
let isBuilding = false
let isStale = false

const ended = (child) => (child.exitCode === null && child.signalCode === null ? once(child, "exit") : null)

const build = async () => {
  const child = spawn(process.execPath, [join(root, "bin/build.mjs"), "--quick", "--out", out], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"]
  })
  await once(child, "exit")
  return child.exitCode === 0
}

const restart = async () => {
  if (server !== null) {
    server.kill("SIGTERM")
    await ended(server)
  }
  server = spawn(process.execPath, [join(out, "main.cjs"), "serve", ...serveArgs], { cwd: root, stdio: "inherit" })
}

const renew = async () => {
  if (isBuilding) {
    isStale = true
    return
  }
  isBuilding = true
  const startedAt = performance.now()
  do {
    isStale = false
    const isBuilt = await build()
    if (isStale) continue
    if (!isBuilt) process.stderr.write("The build failed; waiting for the next change.\n")
    else {
      process.stderr.write(`Built in ${Math.round(performance.now() - startedAt)} ms.\n`)
      await restart()
    }
  } while (isStale)
  isBuilding = false
}

watch(join(root, "src"), { recursive: true }, () => {
  clearTimeout(timer)
  timer = setTimeout(() => void renew(), settleMs)
})

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, async () => {
    server?.kill("SIGTERM")
    if (server !== null) await ended(server)
    process.exit(0)
  })
}

await renew()
