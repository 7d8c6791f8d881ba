/** Where the gateway's CPU time goes: runs it under --cpu-prof and adds up the self time of one loaded window, per module and function. */
import fs from "node:fs"
import { SourceMap } from "node:module"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { costs, partsText, readBaseline, timesByPart } from "./parts.mjs"
import { withServer } from "./scenarios.mjs"

const IDLE = "(idle)"
const WINDOW_SECONDS = 5
const project = fileURLToPath(new URL("../../", import.meta.url))

const loads = {
  small: (plan) => ({ kind: "small", connections: plan.small.connections }),
  big: (plan) => ({ kind: "big", connections: plan.big.connections }),
  turn: () => ({ kind: "turn300", connections: 16 }),
  sse: (plan) => ({ kind: "paced", connections: plan.streams })
}

/** A package file is `{ module: package, place: package/file:line }`, one of the project's own is named by its path. */
const placeOfFile = (project, file, line) => {
  const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)
  if (inPackage !== null) return { module: inPackage[1], place: `${inPackage[1]}/${path.basename(file)}:${line + 1}` }
  const own = path.relative(project, file)
  return { module: own, place: `${own}:${line + 1}` }
}

/** Tells where a profile's call frame was written; a bundled file is looked up in its source map, where there is one. */
const openPlaces = (project) => {
  const maps = new Map()
  const mapOf = (file) => {
    if (!maps.has(file)) {
      const mapFile = `${file}.map`
      maps.set(file, fs.existsSync(mapFile) ? new SourceMap(JSON.parse(fs.readFileSync(mapFile, "utf8"))) : undefined)
    }
    return maps.get(file)
  }
  return ({ functionName, url, lineNumber, columnNumber }) => {
    if (url === "") return { module: functionName.startsWith("(") ? functionName : "(native)", place: "" }
    if (!url.startsWith("file:")) return { module: url, place: `${url}:${lineNumber + 1}` }
    const file = fileURLToPath(url)
    const { originalSource, originalLine } = mapOf(file)?.findEntry(lineNumber, columnNumber) ?? {}
    if (originalSource === undefined) return placeOfFile(project, file, lineNumber)
    const source = originalSource.startsWith("file:")
      ? fileURLToPath(originalSource)
      : path.resolve(path.dirname(file), originalSource)
    return placeOfFile(project, source, originalLine)
  }
}

const addTo = (totals, key, amount) => totals.set(key, (totals.get(key) ?? 0) + amount)

const topShares = (totals, whole, count) =>
  [...totals]
    .sort((a, b) => b[1] - a[1])
    .slice(0, process.env.TOP ? Number(process.env.TOP) : count)
    .map(([name, time]) => ({ name, share: time / whole }))

/** Self times between two moments of the profile's clock (microseconds), as shares of the time that was not idle. */
export const summariseProfile = (profile, fromUs, toUs, placeOf) => {
  const names = new Map(
    profile.nodes.map(({ id, callFrame }) => {
      const { module, place } = placeOf(callFrame)
      return [id, { module, function: `${callFrame.functionName || "(anonymous)"}  ${place}`.trimEnd() }]
    })
  )
  const modules = new Map()
  const functions = new Map()
  let busy = 0
  let at = profile.startTime
  for (const [index, id] of profile.samples.entries()) {
    const delta = profile.timeDeltas[index]
    at += delta
    const name = names.get(id)
    if (at < fromUs || at > toUs || name.module === IDLE) continue
    busy += delta
    addTo(modules, name.module, delta)
    addTo(functions, name.function, delta)
  }
  return { modules: topShares(modules, busy, 14), functions: topShares(functions, busy, 25) }
}

/** The profile's clock and `process.hrtime` are the same monotonic clock. */
const nowUs = () => Number(process.hrtime.bigint() / 1000n)

/** Profiles the gateway, as it was built in a folder, under the load of one scenario ("small", "big", "turn" or "sse"). */
export const profileGateway = async (bench, gateway, scenario, build = project) => {
  const { kind, connections } = loads[scenario](bench.plan)
  const folder = fs.mkdtempSync(path.join(bench.folder, "profile-"))
  const measured = {}
  const variant = { program: path.join(build, "bin/gateway"), nodeFlags: ["--cpu-prof", `--cpu-prof-dir=${folder}`] }
  await withServer(bench, gateway, variant, async (server) => {
    await bench.window(server, kind, { connections, seconds: bench.plan.warmUpSeconds })
    measured.from = nowUs()
    const { chunks, requests } = await bench.window(server, kind, { connections, seconds: WINDOW_SECONDS })
    measured.to = nowUs()
    measured.requests = scenario === "sse" ? chunks : requests
  })
  const file = fs.readdirSync(folder).find((name) => name.endsWith(".cpuprofile"))
  if (file === undefined) throw new Error("the gateway wrote no profile when it stopped")
  const profile = JSON.parse(fs.readFileSync(path.join(folder, file), "utf8"))
  const placeOf = openPlaces(build)
  return {
    scenario,
    parts: costs(timesByPart(profile, measured.from, measured.to, placeOf), measured.requests),
    ...summariseProfile(profile, measured.from, measured.to, placeOf)
  }
}

const shareLine = ({ name, share }) => `  ${(share * 100).toFixed(1).padStart(5)} %  ${name}`

/** The profile as text. */
export const profileText = ({ scenario, parts, modules, functions }) =>
  [
    partsText(scenario, parts, readBaseline(scenario)),
    "",
    `Self time of the gateway, scenario ${scenario}, share of the busy time`,
    ...modules.map(shareLine),
    "",
    "By function",
    ...functions.map(shareLine)
  ].join("\n")
