// No import circle at any level: what stands beside each other in a folder of src, files and folders, must have an order.
import { cruise } from "dependency-cruiser"
import config from "./dependency-cruiser.mjs"

const { output } = await cruise(["src"], { ...config.options, ruleSet: undefined, validate: false })

/** By folder: which of its children imports which, with one import as the proof. */
const levels = new Map()
for (const { source, dependencies } of output.modules) {
  for (const { resolved } of dependencies) {
    if (!resolved.startsWith("src/")) continue
    const from = source.split("/")
    const to = resolved.split("/")
    let depth = 0
    while (from[depth] === to[depth] && depth < from.length) depth += 1
    if (depth === from.length) continue
    const folder = from.slice(0, depth).join("/")
    const children = levels.get(folder) ?? new Map()
    levels.set(folder, children)
    const imports = children.get(from[depth]) ?? new Map()
    children.set(from[depth], imports)
    imports.set(to[depth], `${source} imports ${resolved}`)
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

let found = 0
for (const [folder, children] of levels) {
  for (const child of children.keys()) {
    const circle = circleFrom(children, child)
    if (circle === null) continue
    found += 1
    console.error(`${folder}/${child} is in a circle:\n${circle.map((proof) => `  ${proof}`).join("\n")}`)
  }
}
if (found > 0) process.exit(1)
console.log(`no circles in ${levels.size} folders`)
