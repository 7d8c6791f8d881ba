// Counts tokens on a thread of its own, so that neither loading the vocabulary nor any text can hold up the event loop.
// Plain JavaScript: Node runs this very file from source, and the build copies it as it is.
// In: {id, texts}. Out: {id, tokens, chars}, where `chars` is how much of the text was counted before the time was up.
// In: {id, tokens}, lists of ids. Out: {id, texts}; null where an id is none of the vocabulary.
import { parentPort, workerData } from "node:worker_threads"
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base"

/** The tokeniser's time grows with the square of a word's length: longer words are cut. A cut adds about one token. */
const longestRun = 512
/** The clock is read between two pieces. A piece ends before the next blank after a word, at twice this length at the latest. */
const pieceChars = 4096
// Entries are as large as the longest word; the preset of the package would hold hundreds of megabytes of hostile text.
setMergeCacheSize(2000)
/** Marks such as <|endoftext|> are text like any other here. */
const plain = { disallowedSpecial: new Set() }

const isSpace = (code) =>
  code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x2028 || code === 0x3000
/** Checks whether a cut after `i` would split a surrogate pair. */
const isTorn = (text, i) => (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00

/** The text in pieces, cut before a gap between words where there is one. */
const piecesOf = function* (text) {
  let start = 0
  let gap = 0
  let run = 0
  let inSpace = false
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    const space = isSpace(code)
    if (space !== inSpace) {
      inSpace = space
      run = 0
      if (code === 32) gap = i
    }
    run += 1
    if ((run >= longestRun || i - start >= 2 * pieceChars) && !isTorn(text, i)) {
      yield text.slice(start, i + 1)
      start = i + 1
      run = 0
    } else if (i - start >= pieceChars && gap > start) {
      yield text.slice(start, gap)
      start = gap
    }
  }
  if (start < text.length) yield text.slice(start)
}

const count = (texts) => {
  const deadline = performance.now() + workerData.budgetMs
  let tokens = 0
  let chars = 0
  for (const text of texts) {
    for (const piece of piecesOf(text)) {
      if (performance.now() > deadline) return { tokens, chars }
      tokens += countTokens(piece, plain)
      chars += piece.length
    }
  }
  return { tokens, chars }
}

/** The vocabulary of OpenAI's embedding models is read with the first ids only. */
const decoded = async (tokens) => {
  const { decode } = await import("gpt-tokenizer/encoding/cl100k_base")
  try {
    return tokens.map((ids) => decode(ids))
  } catch {
    return null
  }
}

const answered = async ({ texts, tokens }) => (tokens === undefined ? count(texts) : { texts: await decoded(tokens) })

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort.on("message", async ({ id, ...question }) => parentPort.postMessage({ id, ...(await answered(question)) }))
