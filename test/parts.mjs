// Which test files share their modules with others, and which have a process of their own: for the configuration of Vitest and for `run.mjs`.
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** `layer` of @effect/vitest puts its test clock in force for all files that share its modules. */
const sharesLayer = /import \{[^}]*\blayer\b[^}]*\} from "@effect\/vitest"|\bit\.layer\(/

/** It counts what its process has open: tests of other files in the same process would be counted, too. */
const countsOpenFiles = /\/proc\/self\/fd/

/** @param {string} folder */
const testsIn = (folder) =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => `${folder}/${path}`)

/** @param {string} path */
const sharesNothing = (path) => {
  const text = readFileSync(`${root}${path}`, "utf8")
  return !sharesLayer.test(text) && !countsOpenFiles.test(text)
}

/** Without processes and sockets of their own. */
export const light = [...testsIn("test/unit"), ...testsIn("test/property")].filter(sharesNothing)

/** With gateways in their own process, which they end. */
export const served = [...testsIn("test/http"), ...testsIn("test/sdk")].filter(sharesNothing)

const whole = () => {
  const shared = new Set([...light, ...served])
  return testsIn("test").filter((path) => !shared.has(path))
}

/**
 * The projects that have a file whose path holds one of these texts, as Vitest filters them.
 * @param {ReadonlyArray<string>} filters
 */
export const projectsOf = (filters) => {
  const named = filters.map((filter) =>
    filter.startsWith(root) ? filter.slice(root.length) : filter.replace(/^\.\//, "")
  )
  /** @param {ReadonlyArray<string>} paths */
  const has = (paths) => paths.some((path) => named.some((filter) => path.includes(filter)))
  return [...(has(light) ? ["light"] : []), ...(has(served) ? ["served"] : []), ...(has(whole()) ? ["whole"] : [])]
}
