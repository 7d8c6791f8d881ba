/** The children of the benchmark: started here, pinned to a core where the system can, and all ended by `stopAll`. */
import { spawn, spawnSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"

const KEPT_OUTPUT = 64 * 1024
const STDERR_TAIL = 400

const canPin = () => os.availableParallelism() > 1 && spawnSync("taskset", ["--version"]).status === 0

const readTail = (file, length) => {
  const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : ""
  return text.slice(-length).trim().replaceAll(/\s+/g, " ")
}

/**
 * `folder` receives the standard error of the children (a file costs them no reader). `pinned` says whether cores are honoured.
 * `start(command, args, { core, env, cwd })` returns a child: `pid`, `waitForLine(pattern, timeoutMs)`, `finished`
 * (its exit code and output) and `stop(graceMs)`.
 */
export const openProcesses = (folder) => {
  const pinned = canPin()
  const running = new Set()
  let started = 0

  const start = (command, args, { core, env, cwd } = {}) => {
    const errorFile = path.join(folder, `stderr-${++started}.log`)
    const errors = fs.openSync(errorFile, "w")
    const line = pinned && core !== undefined ? ["taskset", "-c", String(core), command, ...args] : [command, ...args]
    const child = spawn(line[0], line.slice(1), { stdio: ["ignore", "pipe", errors], env: env ?? process.env, cwd })
    fs.closeSync(errors)
    running.add(child)

    let output = ""
    const onOutput = new Set()
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output = (output + text).slice(-KEPT_OUTPUT)
      for (const look of onOutput) look()
    })
    const finished = new Promise((resolve) => {
      const end = (code) => {
        running.delete(child)
        resolve({ code, output })
        for (const look of onOutput) look()
      }
      child.once("error", () => end(null)).once("close", end)
    })
    const ended = () => !running.has(child)
    const complaint = (what) => new Error(`${path.basename(command)} ${what}. ${readTail(errorFile, STDERR_TAIL)}`)

    const waitForLine = (pattern, timeoutMs) =>
      new Promise((resolve, reject) => {
        const settle = (deliver, value) => {
          clearTimeout(timer)
          onOutput.delete(look)
          deliver(value)
        }
        const look = () => {
          const match = pattern.exec(output)
          if (match !== null) settle(resolve, match)
          else if (ended()) settle(reject, complaint("ended before it was ready"))
        }
        const timer = setTimeout(() => settle(reject, complaint(`was not ready after ${timeoutMs} ms`)), timeoutMs)
        onOutput.add(look)
        look()
      })

    const stop = async (graceMs = 5_000) => {
      child.kill("SIGTERM")
      const timer = setTimeout(() => child.kill("SIGKILL"), graceMs)
      await finished
      clearTimeout(timer)
    }

    return { pid: child.pid, waitForLine, finished, ended, complaint, stop }
  }

  /** For the very end, also from a signal handler: nothing is left behind. */
  const stopAll = () => {
    for (const child of running) child.kill("SIGKILL")
  }

  return { pinned, start, stopAll }
}
