/**
 * Runs a command of a folder's program, as the build's child process, and keeps what V8 has compiled of each script that has no compiled
 * code yet: when the build says so, and at the end. To be run with the flags of bin/gateway: compiled code belongs to them.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { cacheFileOf, launch } from "./launch.cjs"

const [folder, ...command] = process.argv.slice(2)
process.argv.splice(2, process.argv.length, ...command)

const scripts = []
const keep = () => {
  for (const [script, file] of scripts) {
    const cacheFile = cacheFileOf(folder, file)
    if (existsSync(cacheFile)) continue
    mkdirSync(dirname(cacheFile), { recursive: true })
    writeFileSync(cacheFile, script.createCachedData())
  }
}
process.once("message", () => {
  keep()
  process.send("kept")
})
process.once("exit", keep)
// A command ends when it has nothing left to do; waiting for the build is not part of it.
process.channel.unref()
launch(folder, (script, file) => scripts.push([script, file]))
