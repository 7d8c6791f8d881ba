/** Files that a prompt names with `@path`. Pure. */

export type Piece =
  | { readonly _tag: "Text"; readonly text: string }
  /** `paths` are what may be meant, the longest first: a dot behind a name may end the sentence. `typed` is how it is in the text. */
  | { readonly _tag: "Mention"; readonly paths: ReadonlyArray<string>; readonly typed: string }

const maxPathChars = 1_024

/** Pattern of a mention at the beginning of a word; in quotes where the path has spaces. `@@` is a plain `@`. */
const mention = new RegExp(
  `(^|[\\s([{<"'])@(?:"([^"\\n]{1,${maxPathChars}})"|(@)|([^\\s"@][^\\s"]{0,${maxPathChars - 1}}))`,
  "gu"
)

const ending = /[.,;:!?)\]}>'…]+$/u

const pathsOf = (path: string): ReadonlyArray<string> => {
  const bare = path.replace(ending, "")
  return bare === path || bare === "" ? [path] : [path, bare]
}

export const piecesOf = (text: string): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  let plain = ""
  let at = 0
  for (const { 0: whole, 1: before = "", 2: inQuotes, 3: doubled, 4: bare = "", index } of text.matchAll(mention)) {
    plain += text.slice(at, index) + before
    at = index + whole.length
    if (doubled !== undefined) {
      plain += "@"
      continue
    }
    if (plain !== "") pieces.push({ _tag: "Text", text: plain })
    plain = ""
    pieces.push({
      _tag: "Mention",
      paths: inQuotes === undefined ? pathsOf(bare) : [inQuotes],
      typed: whole.slice(before.length)
    })
  }
  plain += text.slice(at)
  if (plain !== "") pieces.push({ _tag: "Text", text: plain })
  return pieces
}

/** A word of the command line that is one file and nothing else; null when it is not. */
export const wholeMention = (word: string): string | null =>
  word.startsWith("@") && !word.startsWith("@@") && word.length > 1 ? word.slice(1).replace(/^"(.*)"$/, "$1") : null
