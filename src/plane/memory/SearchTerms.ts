/**
 * The words that a text is found by: lower case, without accents and the commonest endings, without the words that every text has. Texts in
 * scripts without spaces are cut into pairs of characters. One pass, bounded. Pure.
 */

/** Characters of a text that are read from its beginning, and as many from its end. */
const readChars = 8_192

const stopWords: ReadonlySet<string> = new Set(
  (
    "a about all also am an and any are as at be been but by can could did do does for from get had has have he her his how i if in into is it " +
    "its just like me more my no not of on or our out please she so some than that the their them then there these they this to up us use was " +
    "we were what when where which who why will with would you your " +
    "aber als auch auf aus bei bin bitte das dass dem den der des die du ein eine einen einer es fur hat ich im ist kann mein mich mir mit " +
    "nicht oder sie sind und uns von war wenn wer wie wir wird zu zum zur"
  ).split(" ")
)

const wordPattern = /[\p{L}\p{N}]+/gu
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** Plurals and the commonest verb endings of English; the same word with another ending is the same word. */
const stem = (word: string): string => {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`
  if (/(?:ss|us|is)$/.test(word)) return word
  const single = word.endsWith("s") ? word.slice(0, -1) : word
  const root = single.replace(/(?:ing|ed|er)$/, "")
  const short = root.length >= 4 ? root : single
  return short.length > 4 ? short.replace(/e$/, "") : short
}

const pairsOf = (word: string): ReadonlyArray<string> => {
  const signs = Array.from(word)
  return signs.length < 2 ? signs : signs.slice(1).map((sign, at) => `${signs[at] ?? ""}${sign}`)
}

const bounded = (text: string): string =>
  text.length <= readChars * 2 ? text : `${text.slice(0, readChars)} ${text.slice(-readChars)}`

const wordsWith = (text: string, most: number, form: (word: string) => string): ReadonlyArray<string> => {
  const plain = bounded(text)
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
  const words = new Set<string>()
  for (const [word] of plain.matchAll(wordPattern)) {
    if (words.size >= most) break
    if (unspaced.test(word)) for (const pair of pairsOf(word.slice(0, 200))) words.add(pair)
    else if ((word.length > 1 || /\d/.test(word)) && word.length <= 64 && !stopWords.has(word)) words.add(form(word))
  }
  return [...words].slice(0, most)
}

/** Each word once, in the order in which they come; `most` at most. */
export const wordsOf = (text: string, most: number): ReadonlyArray<string> => wordsWith(text, most, stem)

/** The first words of a text as a name of it. */
export const slugOf = (text: string): string =>
  wordsWith(text, 8, (word) => word)
    .join("-")
    .slice(0, 100)
