/**
 * Estimates the tokens of texts for decisions that cannot wait for the tokeniser: it splits words roughly as o200k does, in one pass
 * over a bounded part. Measured against the tokeniser: English prose −3 %, code +3 %, JSON −6 to −10 %, Chinese, Japanese and Korean
 * −1 to −3 %, Russian −3 %, German −7 %. Pure.
 */

/** Characters that are read; the rest is assumed to be like them. */
const sampleChars = 65_536

const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122
const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isBreak = (code: number): boolean => code === 10 || code === 13 || code === 9
const isSign = (code: number): boolean => code > 32 && code < 128 && !isDigit(code) && !isLetter(code)
const isOtherLetter = (code: number): boolean => code >= 128 && code < 0x2e80

const endOf = (text: string, from: number, end: number, belongs: (code: number) => boolean): number => {
  let at = from
  while (at < end && belongs(text.charCodeAt(at))) at += 1
  return at
}

/** A word ends also before a capital that follows a small letter. */
const wordEnd = (text: string, from: number, end: number): number => {
  let at = from + 1
  let small = text.charCodeAt(from) >= 97
  for (; at < end; at += 1) {
    const code = text.charCodeAt(at)
    if (!isLetter(code)) break
    const isSmall = code >= 97
    if (small && !isSmall) break
    small = isSmall
  }
  return at
}

const otherLetters = (length: number): number => (length < 3 ? Math.min(1, length * 0.8) : length / 2.7)

const tokensOf = (text: string, end: number): number => {
  let tokens = 0
  for (let at = 0; at < end;) {
    const start = at
    const code = text.charCodeAt(at)
    if (isLetter(code)) {
      at = wordEnd(text, at, end)
      tokens += at - start <= 7 ? 1 : 1 + (at - start - 7) / 5
    } else if (code === 32) {
      at = endOf(text, at, end, (next) => next === 32)
      // A single blank belongs to the word after it.
      if (at - start > 1) tokens += 1
    } else if (isDigit(code)) {
      at = endOf(text, at, end, isDigit)
      tokens += Math.ceil((at - start) / 3)
    } else if (isBreak(code)) {
      at = endOf(text, at, end, isBreak)
      tokens += 0.8
    } else if (isSign(code)) {
      at = endOf(text, at, end, isSign)
      tokens += at - start <= 3 ? 0.8 : (at - start) / 2.5
    } else if (isOtherLetter(code)) {
      at = endOf(text, at, end, isOtherLetter)
      tokens += otherLetters(at - start)
    } else {
      at += 1
      tokens += code < 128 ? 0.5 : 0.84
    }
  }
  return tokens
}

/** Estimated tokens of all the texts together, rounded up. */
export const estimateTexts = (texts: ReadonlyArray<string>): number => {
  let [tokens, seen, chars] = [0, 0, 0]
  for (const text of texts) {
    chars += text.length
    const end = Math.min(text.length, sampleChars - seen)
    if (end <= 0) continue
    tokens += tokensOf(text, end)
    seen += end
  }
  return seen === 0 ? 0 : Math.ceil((tokens * chars) / seen)
}
