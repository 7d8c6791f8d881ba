/**
 * Finds the parts inside a text that no engine may touch: code, paths, addresses, numbers, names of code, quotations, negations and words of
 * failures. Pure; linear.
 */

interface Span {
  readonly start: number
  readonly end: number
}

export type SpansOf = (text: string) => ReadonlyArray<Span>

/** Each begins and ends with characters that cannot be inside it, or has bounded parts, so that matching is linear. */
export const patterns: ReadonlyArray<RegExp> = [
  // Code, fenced and inline; an open fence goes to the end.
  /```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|`[^`\n]{1,500}`/g,
  // Lines of code, tables, quotations, headings, diffs and lists keep their form.
  /^(?: {4}|\t|[>|#]|[-+]{3} |@@ ).*$/gm,
  // Tags and JSON.
  /<[!/?A-Za-z][^<>\n]{0,500}>|[[{][^\n[\]{}]{0,500}[\]}]/g,
  // Quotations.
  /"[^"\n]{1,300}"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|「[^」\n]{1,300}」|(?<![\w'])'[^'\n]{1,300}'(?![\w'])/g,
  // Negations, with the word behind them.
  /\b(?:no|not|never|none|nothing|neither|nor|without|cannot|can't|won't|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|shouldn't|mustn't|wouldn't|couldn't|hasn't|haven't|unless|except|only|must|nicht|kein\w{0,2}|nie|niemals|ohne|weder|nur|nunca|jamás|sin|ni|nadie|nada|solo|sólo|ne|pas|jamais|sans|aucune?|rien|que|não|nem|sem|nenhuma?|apenas|tidak|bukan|jangan|tanpa|belum|hanya)\b(?:\s+\S{1,60})?/gi,
  /[不没沒无無未别別非勿莫]|ない|なかった|ません|ずに|しか|だけ/g,
  // Words of failures, to the end of the line.
  /\b(?:error|exception|fail(?:ed|ure|s)?|fatal|panic|traceback|warning|fehler|erreur|erro|kesalahan)\b.*$|错误|錯誤|エラー|失败|失敗/gim
]

/** The same, of what is between white space only. Each match has a character, or two, for which `noteworthy` looks. */
export const wordPatterns: ReadonlyArray<RegExp> = [
  // Addresses, paths and file names.
  /[A-Za-z][A-Za-z\d+.-]{1,20}:\/\/[^\s<>"']{1,2000}|(?<![\w/])(?:~|\.{1,2})?\/[^\s<>"'`]{1,500}|[A-Za-z]:\\[^\s<>"']{1,500}|\b[\w-]{1,100}(?:[./\\][\w-]{1,100}){1,20}\b/g,
  // Numbers with what is written together with them.
  /(?<![\w.,:%$€£¥°+-])[\w.,:%$€£¥°+-]*\d[\w.,:%$€£¥°+-]*/g,
  // Names of code, and words in capitals.
  /\b[A-Za-z]+_\w{1,100}|\b[a-z]{1,40}[A-Z]\w{0,60}|\b[A-Z]{2,}\b|[@#$]\w{1,60}|--?[A-Za-z][\w-]{0,60}/g
]

const other = 0
const space = 1
const lower = 2
const upper = 3
const dot = 4
/** Digits, and signs without which no match of `wordPatterns` is made but of letters and dots alone. */
const sign = 5

const kinds = new Uint8Array(128)
for (let code = 0; code < kinds.length; code += 1) {
  const character = String.fromCodePoint(code)
  if (/\s/.test(character)) kinds[code] = space
  else if (/[a-z]/.test(character)) kinds[code] = lower
  else if (/[A-Z]/.test(character)) kinds[code] = upper
  else if (character === ".") kinds[code] = dot
  else if (/[\d_/\\@#$-]/.test(character)) kinds[code] = sign
}

const isNoteworthy = (kind: number, before: number): boolean =>
  kind === sign ||
  (kind === upper && (before === lower || before === upper || before === dot)) ||
  (kind === lower && before === dot)

const mark = (marks: Uint8Array, start: number, end: number): void => {
  // Most matches are a few characters long, and a call costs more than they do.
  if (end - start > 32) marks.fill(1, start, end)
  else for (let at = start; at < end; at += 1) marks[at] = 1
}

const isMarked = (marks: Uint8Array, start: number, end: number): boolean => {
  for (let at = start; at < end; at += 1) if (marks[at] === 0) return false
  return true
}

/** Words in which `wordPatterns` may match, one to a line, and where each is in the text; without those that are marked from end to end. */
const noteworthy = (
  text: string,
  marks: Uint8Array | null
): { readonly words: string; readonly places: ReadonlyArray<number> } => {
  const words: Array<string> = []
  const places: Array<number> = []
  let start = 0
  let before = space
  let isTaken = false
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 32
    const kind = code < 128 ? (kinds[code] ?? other) : other
    if (kind === space) {
      if (isTaken && (marks === null || !isMarked(marks, start, at))) {
        words.push(text.slice(start, at))
        places.push(start)
      }
      isTaken = false
      start = at + 1
    } else if (!isTaken && isNoteworthy(kind, before)) isTaken = true
    before = kind
  }
  return { words: words.join("\n"), places }
}

/** Protected places in their order, none over another and none beside another. */
export const protectedSpans: SpansOf = (text) => {
  const marks = new Uint8Array(text.length)
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) mark(marks, match.index, match.index + match[0].length)
  }
  const { places, words } = noteworthy(text, marks)
  for (const pattern of words === "" ? [] : wordPatterns) {
    let word = 0
    /** Positions in `words` at which the word begins, and at which the next one does. */
    let from = 0
    let next = words.indexOf("\n") + 1
    for (const match of words.matchAll(pattern)) {
      while (next > 0 && next <= match.index) {
        word += 1
        from = next
        next = words.indexOf("\n", next) + 1
      }
      const start = (places[word] ?? 0) + match.index - from
      mark(marks, start, start + match[0].length)
    }
  }
  const spans: Array<Span> = []
  for (let start = marks.indexOf(1); start !== -1;) {
    const after = marks.indexOf(0, start)
    const end = after === -1 ? text.length : after
    spans.push({ start, end })
    start = after === -1 ? -1 : marks.indexOf(1, end)
  }
  return spans
}

/** Checks whether nothing of the text is protected. */
export const isUnprotected = (text: string): boolean => {
  if (patterns.some((pattern) => text.search(pattern) !== -1)) return false
  const { words } = noteworthy(text, null)
  return words === "" || wordPatterns.every((pattern) => words.search(pattern) === -1)
}

/** Makes a cache for one text and the versions of it: each is searched once. */
export const rememberedSpans = (): SpansOf => {
  const known = new Map<string, ReadonlyArray<Span>>()
  return (text) => {
    const found = known.get(text) ?? protectedSpans(text)
    known.set(text, found)
    return found
  }
}

/** The text with what is not protected changed. */
export const outsideSpans = (
  text: string,
  change: (plain: string, isBegin: boolean) => string,
  spansOf: SpansOf = protectedSpans
): string => {
  let out = ""
  let at = 0
  for (const { end, start } of spansOf(text)) {
    out += change(text.slice(at, start), at === 0) + text.slice(start, end)
    at = end
  }
  return out + change(text.slice(at), at === 0)
}

/** Checks whether all that is protected in one text is in the other, in its order. */
export const isFaithful = (before: string, after: string, spansOf: SpansOf = protectedSpans): boolean => {
  let at = 0
  for (const { end, start } of spansOf(before)) {
    const kept = before.slice(start, end).trim()
    const found = after.indexOf(kept, at)
    if (found === -1) return false
    at = found + kept.length
  }
  return true
}
