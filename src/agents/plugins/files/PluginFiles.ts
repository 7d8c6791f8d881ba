/** The files of a plugin: their bounds, and the hash they are known by. Pure. See docs/plugins.md. */
import { createHash } from "node:crypto"
import type { FieldProblem } from "../../../contract/domain/Errors.ts"

/** Files by relative path with `/`. */
export type Files = ReadonlyMap<string, string>

export const maxFiles = 200
export const maxTotalBytes = 5 * 1_048_576
export const maxPathChars = 200
const maxDepth = 8
const maxProblems = 50

export const manifestPath = "plugin.json"

/** Names that Windows takes for devices. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** Half of a pair, which UTF-8 cannot write. */
const lone = /\p{Surrogate}/u

const segmentProblem = (segment: string): string | null => {
  if (segment === "") return "must not have empty parts"
  if (segment === "." || segment === "..") return "must not have . or .. in it"
  if (/[\p{Cc}\p{Cf}<>:"|?*\\]/u.test(segment)) return 'must not hold control characters or any of < > : " | ? * \\'
  if (/[. ]$/.test(segment) || device.test(segment)) return "has a name that not every system takes"
  return null
}

/** Describes the problem of a path; null: none. */
export const pathProblem = (path: string): string | null => {
  if (path.length === 0 || path.length > maxPathChars) return `must have 1 to ${maxPathChars} characters`
  if (lone.test(path)) return "is no well-formed text"
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "must be relative"
  if (path.includes("\\")) return "must have / between its parts"
  const segments = path.split("/")
  if (segments.length > maxDepth) return `must have at most ${maxDepth} parts`
  for (const segment of segments) {
    const problem = segmentProblem(segment)
    if (problem !== null) return problem
  }
  return null
}

/** Folds a path as a file system without letter case does. */
const folded = (path: string): string => path.normalize("NFC").toLowerCase()

/** All that is wrong with a set of files; empty: nothing. `main` is among them. */
export const filesProblems = (
  files: ReadonlyMap<string, unknown>,
  main: string | null
): ReadonlyArray<FieldProblem> => {
  if (files.size > maxFiles) return [{ field: "files", message: `must be at most ${maxFiles} files` }]
  const problems: Array<FieldProblem> = []
  const problem = (path: string, message: string): void => {
    if (problems.length < maxProblems) problems.push({ field: `files.${path.slice(0, 100)}`, message })
  }
  let bytes = 0
  const seen = new Map<string, string>()
  const folders = new Set<string>()
  for (const [path, text] of files) {
    const wrong = pathProblem(path)
    if (wrong !== null) problem(path, wrong)
    const other = seen.get(folded(path))
    if (other !== undefined) problem(path, `differs from '${other.slice(0, 100)}' in letter case only`)
    seen.set(folded(path), path)
    const parts = folded(path).split("/")
    for (let depth = 1; depth < parts.length; depth += 1) folders.add(parts.slice(0, depth).join("/"))
    if (typeof text !== "string") problem(path, "must be a string, the text of the file")
    else if (lone.test(text)) problem(path, "is no well-formed text")
    else bytes += Buffer.byteLength(text)
  }
  for (const [path, own] of seen) if (folders.has(path)) problem(own, "is a file and a folder")
  if (bytes > maxTotalBytes) {
    problems.push({ field: "files", message: `have ${bytes} bytes together, more than ${maxTotalBytes}` })
  }
  if (main !== null && problems.length === 0 && !files.has(main)) {
    problems.push({ field: "main", message: `'${main.slice(0, 100)}' is not among the files` })
  }
  return problems
}

/** `sha256-<base64>` over paths and contents, `plugin.json` among them. Files in another order have the same. */
export const integrityOf = (files: Files): string => {
  const hash = createHash("sha256")
  for (const path of [...files.keys()].toSorted()) {
    const bytes = Buffer.from(files.get(path) ?? "")
    hash.update(`${Buffer.byteLength(path)}:${path}\n${bytes.length}\n`).update(bytes)
  }
  return `sha256-${hash.digest("base64")}`
}

/** The files as they are stored: with the manifest among them. */
export const withManifest = (files: Files, manifest: unknown): Files =>
  new Map([...files, [manifestPath, `${JSON.stringify(manifest, null, 2)}\n`]])
