/** The two C programs, compiled into the run's own folder, and the load generator's measured windows. */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { requestKinds } from "./bodies.mjs"
import { busySeconds, cpuSeconds } from "./procfs.mjs"

const sources = fileURLToPath(new URL("../native/", import.meta.url))
const LOAD_CORE = 0
/** More than the longest drain of the load generator. */
const LOAD_GRACE_SECONDS = 30
const TOLERATED_REFUSALS = 0.1

const compile = (name, folder) => {
  const program = path.join(folder, name)
  execFileSync("cc", ["-O2", "-o", program, path.join(sources, `${name}.c`)], {
    stdio: ["ignore", "ignore", "inherit"]
  })
  return program
}

/**
 * Starts the upstream. `window` loads a server (with a `rate` by so many requests a second, else by as many as it answers) and returns what the load generator counted together with
 * `serverCpuSeconds` and `otherCores` (cores that neither the server, the upstream nor the load used); it throws when the server
 * answers nothing useful. `hold` keeps idle streams open until the returned `release` is called.
 */
export const openNative = async ({ processes, folder, plan }) => {
  const loadProgram = compile("load", folder)
  const upstream = processes.start(
    compile("upstream", folder),
    [String(plan.chunksPerStream), String(plan.chunkIntervalMs)],
    { core: LOAD_CORE }
  )
  const [, upstreamPort] = await upstream.waitForLine(/upstream listening on (\d+)/, 5_000)

  const startLoad = (server, kind, flags) => {
    const { model, body, path: route, headers: own = [] } = requestKinds[kind]
    const bodyFile = path.join(folder, "body.json")
    fs.writeFileSync(bodyFile, JSON.stringify(body(server.modelId(model))))
    const headers = [...server.headers, ...own].flatMap((header) => ["-H", header])
    const where = route === undefined ? [] : ["-u", route]
    return processes.start(
      loadProgram,
      ["-p", String(server.port), "-b", bodyFile, ...where, ...headers, ...flags.map(String)],
      {
        core: LOAD_CORE
      }
    )
  }

  const readResult = async (server, load, seconds) => {
    const timer = setTimeout(() => load.stop(0), (seconds + LOAD_GRACE_SECONDS) * 1000)
    const { code, output } = await load.finished
    clearTimeout(timer)
    if (code !== 0) throw load.complaint("failed")
    const result = JSON.parse(output)
    const useful = result.requests - result.non2xx
    if (useful <= 0 && result.chunks === 0)
      throw new Error(`${server.name} answered nothing (${result.errors} errors). ${result.refusal}`)
    if (result.non2xx > result.requests * TOLERATED_REFUSALS)
      throw new Error(`${server.name} refused ${result.non2xx} of ${result.requests}. ${result.refusal}`)
    return result
  }

  const window = async (server, kind, { connections, rate, seconds, warmUpSeconds = 0 }) => {
    const pids = [server.pid, upstream.pid]
    const before = { machine: busySeconds(), cpu: pids.map(cpuSeconds), at: performance.now() }
    const sequence = kind === "paced" ? ["-s", plan.chunksPerStream] : []
    const open = rate === undefined ? [] : ["-r", rate]
    const load = startLoad(server, kind, ["-c", connections, "-d", seconds, "-w", warmUpSeconds, ...sequence, ...open])
    const result = await readResult(server, load, seconds + warmUpSeconds)
    const [serverCpuSeconds, upstreamCpuSeconds] = pids.map((pid, i) => cpuSeconds(pid) - before.cpu[i])
    const own = serverCpuSeconds + upstreamCpuSeconds + result.cpuSeconds
    const elapsed = (performance.now() - before.at) / 1000
    return { ...result, serverCpuSeconds, otherCores: Math.max(0, (busySeconds() - before.machine - own) / elapsed) }
  }

  const hold = async (server, connections, openSeconds) => {
    const load = startLoad(server, "idle", ["-c", connections, "-d", openSeconds, "-i"])
    const [line] = await load.waitForLine(/\{.*\}/, (openSeconds + 5) * 1000)
    return { ...JSON.parse(line), release: () => load.stop(1_000) }
  }

  return { upstreamPort: Number(upstreamPort), window, hold }
}
