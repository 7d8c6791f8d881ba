// Which test files share their modules, which have a process of their own and which are slow: for the configuration of Vitest and for `run.mjs`.
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** @type {ReadonlyArray<string>} */
const all = readdirSync(`${root}test`, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => `test/${path}`)
  .toSorted()

const texts = new Map(all.map((path) => [path, readFileSync(`${root}${path}`, "utf8")]))

/** It counts what its process has open: tests of other files in the same process would be counted, too. */
const countsOpenFiles = /\/proc\/self\/fd/

/** It takes more work in `npm run test:slow` than in `npm test`. */
const takesMore = /\bfrom "(?:\.\.?\/)+support\/slowRun\.ts"/

/** Without processes and sockets of their own. */
const lightFolders = /^test\/(?:unit|property)\//

/** @param {RegExp} pattern */
const saying = (pattern) => all.filter((path) => pattern.test(texts.get(path) ?? ""))

/** They run in `npm run test:slow` alone, or where they are named. */
export const slow = all.filter((path) => path.endsWith(".slow.test.ts"))

/** They run in `npm test`, and again with all of their work in `npm run test:slow`. */
export const fuller = saying(takesMore)

export const whole = saying(countsOpenFiles)

/** What runs in one go needs to run what takes more work once, in full. */
const isAll = process.env["TEST_PART"] === "all"

const others = all.filter((path) => !slow.includes(path) && !whole.includes(path) && !(isAll && fuller.includes(path)))

export const light = others.filter((path) => lightFolders.test(path))

/** With gateways in their own process, which they end, or programs that they start. */
export const served = [...others.filter((path) => !lightFolders.test(path)), ...(isAll ? [...slow, ...fuller] : [])]

/** Tests of repositories, which run over SQLite and again over Postgres (`support/postgres/inPlace.ts`). */
export const overPostgres = [
  "InspectorSessionRepo",
  "MemoryBlockRepo",
  "PluginRepo",
  "RawOutputRepo",
  "Repos",
  "TunnelRepo",
  "UsageHistoryRepo",
  "fineCosts"
].map((name) => `test/unit/store/${name}.test.ts`)

/**
 * The projects that have a file whose path holds one of these texts, as Vitest filters them.
 * @param {ReadonlyArray<string>} filters
 */
export const projectsOf = (filters) => {
  const named = filters.map((filter) =>
    filter.startsWith(root) ? filter.slice(root.length) : filter.replace(/^\.\//, "")
  )
  return Object.entries({ light, served, whole, slow, postgres: overPostgres }).flatMap(([project, paths]) =>
    paths.some((path) => named.some((filter) => path.includes(filter))) ? [project] : []
  )
}
