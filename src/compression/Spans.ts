/**
 * What no engine may touch inside a text: code, paths, addresses, numbers, names of code, quotations, negations and words of failures. Pure;
 * linear.
 */

interface Span {
  readonly start: number
  readonly end: number
}

/** Each begins and ends with characters that cannot stand inside it, or has bounded parts, so that matching is linear. */
const patterns: ReadonlyArray<RegExp> = [
  // Code, fenced and inline; an open fence goes to the end.
  /```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|`[^`\n]{1,500}`/g,
  // Lines of code, tables, quotations, headings, diffs and lists keep their form.
  /^(?: {4}|\t|[>|#]|[-+]{3} |@@ ).*$/gm,
  // Tags and JSON.
  /<[!/?A-Za-z][^<>\n]{0,500}>|[[{][^\n[\]{}]{0,500}[\]}]/g,
  // Addresses, paths and file names.
  /[A-Za-z][A-Za-z\d+.-]{1,20}:\/\/[^\s<>"']{1,2000}|(?<![\w/])(?:~|\.{1,2})?\/[^\s<>"'`]{1,500}|[A-Za-z]:\\[^\s<>"']{1,500}|\b[\w-]{1,100}(?:[./\\][\w-]{1,100}){1,20}\b/g,
  // Quotations.
  /"[^"\n]{1,300}"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|「[^」\n]{1,300}」|(?<![\w'])'[^'\n]{1,300}'(?![\w'])/g,
  // Numbers with what is written together with them.
  /(?<![\w.,:%$€£¥°+-])[\w.,:%$€£¥°+-]*\d[\w.,:%$€£¥°+-]*/g,
  // Names of code, and words in capitals.
  /\b[A-Za-z]+_\w{1,100}|\b[a-z]{1,40}[A-Z]\w{0,60}|\b[A-Z]{2,}\b|[@#$]\w{1,60}|--?[A-Za-z][\w-]{0,60}/g,
  // Negations, with the word behind them.
  /\b(?:no|not|never|none|nothing|neither|nor|without|cannot|can't|won't|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|shouldn't|mustn't|wouldn't|couldn't|hasn't|haven't|unless|except|only|must|nicht|kein\w{0,2}|nie|niemals|ohne|weder|nur|nunca|jamás|sin|ni|nadie|nada|solo|sólo|ne|pas|jamais|sans|aucune?|rien|que|não|nem|sem|nenhuma?|apenas|tidak|bukan|jangan|tanpa|belum|hanya)\b(?:\s+\S{1,60})?/gi,
  /[不没沒无無未别別非勿莫]|ない|なかった|ません|ずに|しか|だけ/g,
  // Words of failures, to the end of the line.
  /\b(?:error|exception|fail(?:ed|ure|s)?|fatal|panic|traceback|warning|fehler|erreur|erro|kesalahan)\b.*$|错误|錯誤|エラー|失败|失敗/gim
]

/** Protected places in their order, none over another. */
export const protectedSpans = (text: string): ReadonlyArray<Span> => {
  const found: Array<Span> = []
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) found.push({ start: match.index, end: match.index + match[0].length })
  }
  found.sort((one, other) => one.start - other.start || other.end - one.end)
  const merged: Array<{ start: number; end: number }> = []
  for (const span of found) {
    const last = merged.at(-1)
    if (last !== undefined && span.start <= last.end) last.end = Math.max(last.end, span.end)
    else merged.push({ ...span })
  }
  return merged
}

/** The text with what is not protected changed. */
export const outsideSpans = (text: string, change: (plain: string, isBegin: boolean) => string): string => {
  let out = ""
  let at = 0
  for (const { end, start } of protectedSpans(text)) {
    out += change(text.slice(at, start), at === 0) + text.slice(start, end)
    at = end
  }
  return out + change(text.slice(at), at === 0)
}

const protectedTexts = (text: string): ReadonlyArray<string> =>
  protectedSpans(text).map(({ end, start }) => text.slice(start, end).trim())

/** Whether all that is protected in one text stands in the other, in its order. */
export const isFaithful = (before: string, after: string): boolean => {
  let at = 0
  for (const kept of protectedTexts(before)) {
    const found = after.indexOf(kept, at)
    if (found === -1) return false
    at = found + kept.length
  }
  return true
}
