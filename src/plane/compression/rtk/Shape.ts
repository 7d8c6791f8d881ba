/** Recognises the type of an output by its first lines. Pure. */
import type { OutputType } from "./Filter.ts"
import { shown } from "./Terminal.ts"

/** Lines, and characters of them, that are looked at. */
export const seenLines = 60
const seenOfLine = 300

/** The first lines that are not empty. */
export const firstLines = (text: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (let from = 0; lines.length < seenLines && from < text.length;) {
    const end = text.indexOf("\n", from)
    const to = end < 0 ? text.length : end
    const line = shown(text.slice(from, Math.min(to, from + seenOfLine)))
    if (line.trim() !== "") lines.push(line)
    // Lines of nothing but space are as many as a caller likes.
    if (to - from > 100_000) break
    from = to + 1
  }
  return lines
}

const time =
  /^[^A-Za-z]{0,4}(?:\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}|[A-Z][a-z]{2} +\d{1,2} \d{2}:\d{2}:\d{2}|\d{2}:\d{2}:\d{2}|\[ *\d+\.\d+\])|^[A-Za-z0-9_.-]{1,40} +\| |^\d{1,3}(?:\.\d{1,3}){3} - /
const tested =
  /^ *(?:[✓✔√✗✘×] |ok \d|not ok \d|PASS |FAIL |--- (?:PASS|FAIL)|test .{1,200} \.\.\. )|(?:::|\.py).{0,200} (?:PASSED|FAILED|SKIPPED)/u
const built =
  /^ *(?:Compiling |Downloading |Building |Linking |\[ *\d+%\] |\[\d+\/\d+\] |make(?:\[\d+\])?: |gcc |g\+\+ |cc |> Task :|\[INFO\] )/
const changed = /^(?:diff --git |@@ -\d|\+\+\+ |--- a\/)/
const listed = /^(?:[-dlcbps][rwxsStT-]{9}[ .+@]|total \d+$)/
const tabled = /\S {2,}\S.* {2,}\S/

const part = (lines: ReadonlyArray<string>, pattern: RegExp): number =>
  lines.filter((line) => pattern.test(line)).length / lines.length

/** Null: none of them, such as prose or code. */
export const outputTypeOf = (text: string, lines: ReadonlyArray<string>): OutputType | null => {
  if (lines.length === 0) return null
  const start = text.slice(0, 200).trimStart().charAt(0)
  if ((start === "{" || start === "[") && /["{[\]}]/.test(text.slice(-200).trimEnd().slice(-1))) return "json"
  if (lines.some((line) => changed.test(line))) return "diff"
  if (lines.length < 4) return null
  if (part(lines, tested) >= 0.3) return "test"
  if (part(lines, listed) >= 0.6) return "listing"
  if (part(lines, time) >= 0.6) return "log"
  if (part(lines, built) >= 0.4) return "build"
  return part(lines, tabled) >= 0.9 && lines.length >= 10 && /^[A-Z][A-Z%_-]+(?: [A-Z]+)* {2,}/.test(lines[0] ?? "")
    ? "table"
    : null
}
