/**
 * Fragments of the changelog: `changelog/<words>.<kind>.md`, one for each change that people notice who run the gateway. From them follow the next
 * version and its notes.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** Kinds by their heading in the changelog, in its order. What breaks something for people begins with what they have to do. */
export const kinds = {
  breaking: "Changed, and to be acted on",
  added: "Added",
  changed: "Changed",
  removed: "Removed",
  fixed: "Fixed",
  security: "Security"
}

const fileName = /^(?<words>[a-z0-9]+(?:-[a-z0-9]+)*)\.(?<kind>[a-z]+)\.md$/

/** Reads a fragment from its name and text: `{kind, text}`, or `{problem}`. */
export const fragmentOf = (name, text) => {
  const { kind } = fileName.exec(name)?.groups ?? {}
  if (kind === undefined)
    return { problem: `${name} is not named <words>.<kind>.md, such as budgets-by-team.added.md.` }
  if (!Object.hasOwn(kinds, kind)) {
    return { problem: `${name} has the kind '${kind}', which is none of ${Object.keys(kinds).join(", ")}.` }
  }
  const line = text.trim()
  if (line === "") return { problem: `${name} is empty: say in a sentence what people notice.` }
  if (!/[.!?:`)]$/.test(line)) return { problem: `${name} does not end as a sentence.` }
  if (/^[-#*]/.test(line)) return { problem: `${name} begins with a mark of a list or heading: it is a sentence.` }
  return { kind, text: line.replaceAll(/\s*\n\s*/g, " ") }
}

/** Reads the fragments of a project; a folder without any is none. */
export const fragmentsIn = (root) => {
  const folder = join(root, "changelog")
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name !== "README.md")
    .toSorted()
    .map((name) => Object.assign(fragmentOf(name, readFileSync(join(folder, name), "utf8")), { name }))
}

/** Lines of the section "Unreleased" of the changelog, which older changes have. */
export const unreleasedOf = (changelog) => (changelog.split("## Unreleased\n")[1] ?? "").split(/^## /m)[0].trim()

/** The version that follows `current` after changes of these kinds; null where nothing changed. Before 1.0.0 what breaks raises the minor version. */
export const nextVersion = (current, changed) => {
  const [major, minor, patch] = current.split(".").map(Number)
  const has = (...some) => changed.some((kind) => some.includes(kind))
  if (changed.length === 0) return null
  if (has("breaking", "removed")) return major === 0 ? `0.${minor + 1}.0` : `${major + 1}.0.0`
  return has("added", "changed") ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`
}

/** Kinds of the headings in a text of the older form. */
export const kindsOfText = (text) =>
  [...text.matchAll(/^### (.+)$/gm)].flatMap(([, heading]) =>
    Object.entries(kinds).flatMap(([kind, words]) => (words === heading ? [kind] : []))
  )

/** Notes of a version, as a section of the changelog. */
export const notesOf = (version, day, fragments, unreleased) => {
  const parts = Object.entries(kinds).flatMap(([kind, heading]) => {
    const lines = fragments.filter((one) => one.kind === kind).map(({ text }) => `- ${text}`)
    return lines.length === 0 ? [] : [`### ${heading}\n\n${lines.join("\n")}`]
  })
  return `${[`## ${version} (${day})`, ...parts, ...(unreleased === "" ? [] : [unreleased])].join("\n\n")}\n`
}
