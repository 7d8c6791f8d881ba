/** Writes what each test file costs to the file that `TEST_COSTS` names: a line of JSON each, with CPU seconds of its process and of the programs it has waited for. */
import { appendFileSync, readFileSync, readlinkSync } from "node:fs"
import { isMainThread } from "node:worker_threads"
import { afterAll } from "vitest"

const path = process.env["TEST_COSTS"]

/** CPU seconds since the start: own, and of ended children. A thread knows its own only. */
const cpu = (): { readonly own: number; readonly programs: number } => {
  const stat = readFileSync(
    isMainThread ? "/proc/self/stat" : `/proc/${readlinkSync("/proc/thread-self")}/stat`,
    "utf8"
  )
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number)
  const sum = (at: number): number => ((fields[at] ?? 0) + (fields[at + 1] ?? 0)) / 100
  return { own: sum(11), programs: isMainThread ? sum(13) : 0 }
}

if (path !== undefined) {
  const before = cpu()
  const startedMs = performance.now()
  afterAll((suite) => {
    const after = cpu()
    const cost = {
      file: suite.file.name,
      own: after.own - before.own,
      programs: after.programs - before.programs,
      wallSeconds: (performance.now() - startedMs) / 1000
    }
    appendFileSync(path, `${JSON.stringify(cost)}\n`)
  })
}
