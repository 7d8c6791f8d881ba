/**
 * Starts the program of a folder once, as the build's child process, and keeps what V8 has compiled by the time it listens. To be run with
 * the flags of bin/gateway: compiled code belongs to them.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { cacheFileOf, launch } from "./launch.cjs"

const [folder] = process.argv.slice(2)
process.argv.splice(2, process.argv.length, "serve", "--port", "0", "--no-open")

const scripts = []
process.once("message", () => {
  for (const [script, file] of scripts) {
    const cacheFile = cacheFileOf(folder, file)
    mkdirSync(dirname(cacheFile), { recursive: true })
    writeFileSync(cacheFile, script.createCachedData())
  }
  process.send("written", () => process.kill(process.pid, "SIGTERM"))
})
launch(folder, (script, file) => scripts.push([script, file]))
