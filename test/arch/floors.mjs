/**
 * Checks the order of imports: none goes to a higher floor of `layers.mjs`, and none is part of a circle at any level, so that files and folders
 * that are siblings have an order, too.
 */
import { cruise } from "dependency-cruiser"
import config from "./dependency-cruiser.mjs"
import { floorOf, floors, placeOf } from "./layers.mjs"

const { output } = await cruise(["src"], { ...config.options, ruleSet: undefined, validate: false })

/** The command line starts the server and opens the store, but only when it is told to: by dynamic import, never at start. */
const isLater = ({ dependencyTypes }) =>
  dependencyTypes.some((type) => ["dynamic-import", "type-only", "type-import"].includes(type))

const problems = []
/** By folder: which of its children imports which, with one import as the proof. */
const levels = new Map()

const note = (source, resolved) => {
  const from = placeOf(source).split("/")
  const to = placeOf(resolved).split("/")
  let depth = 0
  while (from[depth] === to[depth] && depth < from.length) depth += 1
  // The order of the floors is in the table.
  if (depth === from.length || depth === 0) return
  const folder = from.slice(0, depth).join("/")
  const children = levels.get(folder) ?? new Map()
  levels.set(folder, children)
  const imports = children.get(from[depth]) ?? new Map()
  children.set(from[depth], imports)
  imports.set(to[depth], `${source} imports ${resolved}`)
}

for (const { dependencies, source } of output.modules) {
  if (!source.startsWith("src/")) continue
  const floor = floorOf(source)
  if (floor === null) problems.push(`${source} stands on no floor`)
  for (const dependency of dependencies) {
    const { resolved } = dependency
    if (!resolved.startsWith("src/")) continue
    const isUpward = floors.indexOf(floorOf(resolved)) > floors.indexOf(floor)
    if (isUpward && !(floor === "cli" && isLater(dependency))) {
      problems.push(`${source} (${floor}) imports ${resolved} (${floorOf(resolved)})`)
    } else note(source, resolved)
  }
}

/** A way from `child` back to itself, as a list of proofs; null where there is none. */
const circleFrom = (children, child) => {
  const seen = new Set()
  const open = [[child, []]]
  for (const [at, proofs] of open) {
    for (const [next, proof] of children.get(at) ?? []) {
      if (next === child) return [...proofs, proof]
      if (seen.has(next)) continue
      seen.add(next)
      open.push([next, [...proofs, proof]])
    }
  }
  return null
}

for (const [folder, children] of levels) {
  for (const child of children.keys()) {
    const circle = circleFrom(children, child)
    if (circle !== null)
      problems.push(`${folder}/${child} is in a circle:\n${circle.map((proof) => `  ${proof}`).join("\n")}`)
  }
}

for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exit(1)
console.log(`no import to a higher floor, no circle in ${levels.size} folders`)
