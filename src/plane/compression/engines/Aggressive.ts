/**
 * The engine `aggressive`: the longer a text, the less of its prose is left. Sentences and lines that hold nothing protected (`Spans`) go
 * out, whole; of outputs of tools, runs of such lines become one line with their number. What becomes of a text depends on it alone, never on
 * how old its turn is: a turn that was sent has to be sent again as it was, also when its outcome was dropped. Pure and deterministic.
 */
import type { Engine } from "../Engine.ts"
import { isFaithful, isUnprotected, rememberedSpans, type SpansOf } from "../Spans.ts"
import { lite } from "./Lite.ts"

/** `light`: white space and repetitions. `moderate`: without asides. `full`: only what is protected, and its beginning. */
export type Depth = "light" | "moderate" | "full"

/** Characters of a text. About 100 and 300 tokens. */
const moderateFrom = 400
const fullFrom = 1_200
/** Length in characters from which the output of a tool is shortened; about 2,048 tokens. */
const trimmedFrom = 8_192

/** Part of a text that must be saved at least: otherwise it stays as it is. */
const leastSaved = 0.05

/** Lines of an output of a tool that stay at its beginning and its end. */
const headLines = 20
const tailLines = 10
/** A run of fewer lines is not worth the line that stands for it. */
const leastRun = 4

export const depthOf = (text: string, kind: "text" | "tool-result"): Depth => {
  if (kind === "tool-result") return text.length >= trimmedFrom ? "full" : "light"
  if (text.length >= fullFrom) return "full"
  return text.length >= moderateFrom ? "moderate" : "light"
}

/** Words by which a sentence says what was decided, is wanted, or comes next. */
const telling =
  /\b(?:decid\w{0,4}|chos\w{0,2}|choose|use[ds]?|using|must|should|shall|will|want\w{0,2}|need\w{0,2}|requir\w{0,5}|because|therefore|instead|todo|next|plan\w{0,4}|agreed?|remember|important|prefer\w{0,3}|always|but|however|entschieden|soll\w{0,2}|muss|weil|decidi\w{0,4}|debe\w{0,1}|porque|doit|parce|deve|harus|karena)\b|[必须須应應べ]/iu

/** A sentence with the white space behind it. */
const sentences = /[^.!?。！？\n]*(?:[.!?。！？]+(?=\s|$|[^\s.!?])|\n|$)[^\S\n]*\n*/g

/** Ends of sentences that are inside something protected are none. */
const partsOf = (text: string, spansOf: SpansOf): ReadonlyArray<string> => {
  const spans = spansOf(text)
  const parts: Array<string> = []
  let from = 0
  let span = 0
  for (const match of text.matchAll(sentences)) {
    const end = match.index + match[0].length
    if (end === from) continue
    while (span < spans.length && (spans[span]?.end ?? 0) < end) span += 1
    const over = spans[span]
    if (over !== undefined && over.start < end && end < over.end) continue
    parts.push(text.slice(from, end))
    from = end
  }
  if (from < text.length) parts.push(text.slice(from))
  return parts
}

const breaksAt = (text: string): number => {
  let at = text.length
  while (at > 0 && text[at - 1] === "\n") at -= 1
  return text.length - at
}

/** Line ends of what goes stay, so that lines begin where they began. */
const shortened = (text: string, depth: Depth, spansOf: SpansOf): string => {
  let out = ""
  let isBegin = true
  for (const part of partsOf(text, spansOf)) {
    const isKept =
      part.trim() === "" ||
      !isUnprotected(part) ||
      telling.test(part) ||
      (isBegin && (depth === "moderate" || out === ""))
    const breaks = breaksAt(part)
    out += isKept ? part : "\n".repeat(Math.max(0, breaks - breaksAt(out)))
    isBegin = breaks > 1
  }
  return out
}

/** Lines between the beginning and the end that hold nothing protected, as one line with their number. */
const trimmed = (text: string): string => {
  const lines = text.split("\n")
  if (lines.length <= headLines + tailLines + leastRun) return text
  const out = lines.slice(0, headLines)
  const until = lines.length - tailLines
  let run: Array<string> = []
  const close = (): void => {
    out.push(...(run.length < leastRun ? run : [`[${run.length} lines left out]`]))
    run = []
  }
  for (const line of lines.slice(headLines, until)) {
    if (isUnprotected(line)) run.push(line)
    else {
      close()
      out.push(line)
    }
  }
  close()
  return [...out, ...lines.slice(until)].join("\n")
}

const once = (text: string, kind: "text" | "tool-result", depth: Depth, spansOf: SpansOf): string => {
  const tidy = lite(text)
  if (depth === "light") return tidy
  if (kind === "text") return lite(shortened(tidy, depth, spansOf))
  return trimmed(tidy)
}

/** Most passes: a removal may bring together parts that are removed then; beyond this the text is left alone. */
const mostPasses = 4

/** Null: the text stays as it is. */
export const aggressive = (
  text: string,
  kind: "text" | "tool-result",
  depth: Depth = depthOf(text, kind)
): string | null => {
  const spansOf = rememberedSpans()
  let smaller = text
  for (let pass = 0; pass < mostPasses; pass += 1) {
    const again = once(smaller, kind, depth, spansOf)
    if (again === smaller) {
      return smaller.length < text.length * (1 - leastSaved) && isFaithful(text, smaller, spansOf) ? smaller : null
    }
    smaller = again
  }
  return null
}

/** Engine for texts of assistants and tools only: those of people and the system are not summarised. */
export const aggressiveEngine: Engine = {
  name: "aggressive",
  compress: ({ kind, role, text }) => (role === "assistant" || kind === "tool-result" ? aggressive(text, kind) : null)
}
