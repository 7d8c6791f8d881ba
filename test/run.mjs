/**
 * `npm test`, with `--slow` `npm run test:slow`, and with `--all` both in one go, which imports everything once. Files that may share their modules run in one go, the others in a second one: the pool of
 * processes has one setting for all files of a run, and to import everything anew for each of the former takes longer than their tests. With
 * arguments that name files, or other options of Vitest, all runs take them, and a slow file that is named runs, too; a report that is asked for
 * (`--outputFile.json`) holds all of them.
 */
import { spawn } from "node:child_process"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { projectsOf } from "./parts.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const reportFlag = "--outputFile.json="
const slowFlag = "--slow"
const allFlag = "--all"
const isSlow = process.argv.includes(slowFlag)
const isAll = process.argv.includes(allFlag)
const given = process.argv.slice(2).filter((each) => each !== slowFlag && each !== allFlag)
const report = given.find((each) => each.startsWith(reportFlag))?.slice(reportFlag.length) ?? null

/** By name: which projects, in `vitest.config.ts`. */
const plainParts = { shared: ["light", "served", "postgres"], whole: ["whole"] }
/** In one go the slow files and those that take more work are among the served ones. */
const allParts = { all: ["light", "served", "postgres"], whole: ["whole"] }
/** Only in a slow run do the slow files stand beside those that take more work there. */
const slowParts = isSlow ? { slow: ["slow"] } : { named: ["slow"] }

const named = given.filter((each) => !each.startsWith("-"))
const wanted = named.length === 0 ? null : projectsOf(named)

const partsOfRun = () => {
  if (isSlow) return slowParts
  if (isAll) return allParts
  return wanted === null ? plainParts : { ...plainParts, ...slowParts }
}

/** A file that is asked for is in one of the projects, and nothing is heard of the others. */
const ownOf = (name, projects) => {
  if (wanted === null || isSlow) return projects
  const own = projects.filter((project) => wanted.includes(project))
  if (!isAll) return own
  return own.length > 0 || (name === "all" && wanted.includes("slow")) ? projects : []
}
const parts = Object.fromEntries(
  Object.entries(partsOfRun())
    .map(([name, projects]) => [name, ownOf(name, projects)])
    .filter(([, projects]) => projects.length > 0)
)
if (Object.keys(parts).length === 0) {
  process.stderr.write(`No test file is named by ${named.join(", ")}.\n`)
  process.exit(1)
}

/** By a signal: then the parts that are left do not begin. */
let isStopped = false

const partReport = (part) => `${report}.${part}`

const run = (part) =>
  new Promise((done) => {
    const args = [
      ...given.filter((each) => !each.startsWith(reportFlag)),
      ...(report === null ? [] : [reportFlag + partReport(part)]),
      ...parts[part].flatMap((project) => ["--project", project])
    ]
    const child = spawn(
      process.execPath,
      ["node_modules/vitest/vitest.mjs", "run", "--config", "test/vitest.config.ts", ...args],
      { cwd: root, stdio: "inherit", env: { ...process.env, TEST_PART: part } }
    )
    for (const signal of ["SIGINT", "SIGTERM"]) {
      process.on(signal, () => {
        isStopped = true
        child.kill(signal)
      })
    }
    child.on("close", (code) => done(code ?? 1))
  })

const codes = []
for (const part of Object.keys(parts)) codes.push(isStopped ? 1 : await run(part))

const read = (part) => {
  const file = partReport(part)
  if (!existsSync(file)) return null
  const found = JSON.parse(readFileSync(file, "utf8"))
  rmSync(file)
  return found
}

/** Numbers are added up, lists joined. */
const joined = (one, other) =>
  Object.fromEntries(
    Object.entries(one).map(([name, value]) => {
      const more = other[name]
      if (typeof value === "number" && name !== "startTime") return [name, value + more]
      if (Array.isArray(value)) return [name, [...value, ...more]]
      return [name, typeof value === "boolean" ? value && more : value]
    })
  )

if (report !== null) {
  const reports = Object.keys(parts).map(read)
  // Without one of them there is none: what is not known has not passed.
  if (reports.every((each) => each !== null)) writeFileSync(report, JSON.stringify(reports.reduce(joined)))
}
process.exitCode = codes.find((code) => code !== 0) ?? 0
