/**
 * Finds secrets in a text of any form: JSON (also within strings of JSON), forms, addresses, XML, command lines, prose. One pass; each
 * character is looked at a bounded number of times.
 */
import { maxBoundaryChars, privateKeyBegin, privateKeyEnd } from "../../../kernel/secrets/PrivateKeys.ts"
import { verdictOf } from "./SecretNames.ts"
import { endOfRun, isWordCode, shapeAt } from "./SecretShapes.ts"

export interface Secret {
  readonly start: number
  readonly end: number
  /** Characters at the start that say what kind it is. */
  readonly kindChars: number
  /** True when it may go on behind the end of the text. */
  readonly isOpen: boolean
  /** The value is without quotes in JSON, so that the mask needs them. */
  readonly needsQuotes?: true
}

/** Longest name before a separator that is looked at. */
const maxNameChars = 64
const maxBlanks = 4
/** Backslashes before a quote: JSON in JSON in JSON. */
const maxEscapes = 15
const maxUserInfoChars = 512
/** Longest private key without an end line is as long as its characters go; with one, this. */
export const maxPrivateKeyChars = 16_384

const hyphen = 45
const colon = 58
const equals = 61
const greater = 62
const less = 60
const backslash = 92
const percent = 37
const tilde = 126

const isBlank = (code: number): boolean => code === 32 || code === 9
const isQuote = (code: number): boolean => code === 34 || code === 39 || code === 96
const isNameCode = (code: number): boolean => isWordCode(code) || code === hyphen || code === 46
const isHexCode = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70)

/**
 * Finds the beginning of the word that follows an escape sequence (`\\n`, `\\u0022`, `%3D`), whose last characters look
 * like a part of it; -1 for none.
 */
const behindEscape = (text: string, at: number, code: number): number => {
  if (code === percent) return isHexCode(text.charCodeAt(at + 1)) && isHexCode(text.charCodeAt(at + 2)) ? at + 3 : -1
  const next = text.charAt(at + 1)
  return next === "u" ? at + 6 : "nrtbfv".includes(next) && next !== "" ? at + 2 : -1
}

/** Ends a value without quotes. */
const bareEnd = /[\s"'`\\,;&<>(){}[\]|]/g
/** The same where the separator was percent-encoded, and so is what follows. */
const encodedEnd = /[\s"'`\\,;&<>(){}[\]|]|%26/g
/** Ends a value that may have blanks in it, such as a header's. */
const lineEnd = /[\r\n"'`\\<>]/g

const nextOf = (text: string, from: number, pattern: RegExp): number => {
  pattern.lastIndex = from
  const found = pattern.exec(text)
  return found === null ? text.length : found.index
}

/** Pattern of placeholders that are written where a value would be. */
const standIn =
  /^(?:\$\{?[A-Z_][A-Z0-9_]*\}?|<[\w -]*>?|\{\{.*|null|none|undefined|nil|true|false|string|str|text|number|int|bool|boolean|required|optional|object|array|any|unknown|self|this|xxx+|\.\.\.|…)$/i

const variable = /\$\{?[A-Z_][A-Z0-9_]{0,63}(?:\}|(?![\w-]))/y
const isVariable = (text: string, at: number): boolean => {
  variable.lastIndex = at
  return variable.test(text)
}

const isStandIn = (value: string): boolean => value.length < 64 && (standIn.test(value) || value.includes("***"))

const tokenLike = /^[\w.~+/=:%-]{12,}$/
const isTokenLike = (value: string): boolean =>
  tokenLike.test(value.slice(0, 4_096)) && !/^\d+(?:\.\d+)?$/.test(value.slice(0, 64))

const scheme =
  /^(?:Bearer|Basic|Token|ApiKey|Api-Key|Key|Digest|Negotiate|NTLM|GoogleLogin|AWS4-HMAC-SHA256|SharedKey|SharedAccessSignature|Hawk|DPoP)(?:[ \t]{1,4}|\+|%20)(?:auth=)?/i

/** Characters of a value that say its kind: a scheme, or the beginning of a known shape. */
export const kindCharsOf = (value: string): number => {
  const named = scheme.exec(value.slice(0, 64))?.[0].length
  return named ?? shapeAt(value, 0)?.shape.begin.length ?? 0
}

/** The name that ends before a separator, and whether it was in double quotes. */
const nameBefore = (
  text: string,
  separator: number
): { readonly name: string; readonly isQuoted: boolean; readonly start: number } => {
  let end = separator
  for (let blanks = 0; blanks < maxBlanks && end > 0 && isBlank(text.charCodeAt(end - 1)); blanks += 1) end -= 1
  let isQuoted = false
  if (end > 0 && isQuote(text.charCodeAt(end - 1))) {
    isQuoted = text.charAt(end - 1) === '"'
    end -= 1
    for (let escapes = 0; escapes < maxEscapes && end > 0 && text.charCodeAt(end - 1) === backslash; escapes += 1)
      end -= 1
  }
  // `form[password]=…`
  if (end > 0 && text.charAt(end - 1) === "]") end -= 1
  let start = end
  while (start > 0 && end - start < maxNameChars && isNameCode(text.charCodeAt(start - 1))) start -= 1
  return { name: text.slice(start, end), isQuoted, start }
}

/** End of a value in quotes: the next quote with no more backslashes before it than the first. */
const quotedEnd = (text: string, from: number, quote: string, escapes: number): number => {
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    let before = 0
    while (before <= maxEscapes && at - before > from && text.charCodeAt(at - before - 1) === backslash) before += 1
    // Without escapes of its own, an even number of them is text.
    if (escapes === 0 ? before % 2 === 0 : before <= escapes) return escapes === 0 ? at : at - before
  }
  return text.length
}

const wide = /^(?:set-?)?cookie$|authorization$/i

/** The value behind a separator of a name whose values are secrets. */
const valueFrom = (text: string, from: number, name: string, isJson: boolean, isEncoded = false): Secret | null => {
  const verdict = verdictOf(name)
  let start = from
  for (let blanks = 0; blanks < maxBlanks && isBlank(text.charCodeAt(start)); blanks += 1) start += 1
  const isSpaced = start > from
  let escapes = 0
  let quoteAt = start
  while (escapes < maxEscapes && text.charCodeAt(quoteAt) === backslash) {
    quoteAt += 1
    escapes += 1
  }
  const fits = (value: string): boolean =>
    value !== "" && !isStandIn(value) && (verdict === "certain" || isTokenLike(value))
  if (isQuote(text.charCodeAt(quoteAt))) {
    const end = quotedEnd(text, quoteAt + 1, text.charAt(quoteAt), escapes)
    const value = text.slice(quoteAt + 1, end)
    if (!fits(value)) return null
    return { start: quoteAt + 1, end, kindChars: kindCharsOf(value), isOpen: end === text.length }
  }
  if (escapes > 0 || isVariable(text, start)) return null
  const schemed = scheme.exec(text.slice(start, start + maxNameChars))?.[0].length ?? 0
  const end = nextOf(text, start + schemed, wide.test(name) ? lineEnd : isEncoded ? encodedEnd : bareEnd)
  const value = text.slice(start, end)
  if (!fits(value)) return null
  if (isJson) {
    return /^-?\d/.test(value) ? { start, end, kindChars: 0, isOpen: end === text.length, needsQuotes: true } : null
  }
  // An expression in code.
  const isCode = isSpaced && (text.charAt(end) === "(" || /^[a-z_]\w*(?:\.[a-zA-Z_]\w*)+$/i.test(value))
  return isCode
    ? null
    : { start, end, kindChars: schemed > 0 ? schemed : kindCharsOf(value), isOpen: end === text.length }
}

/** `https://user:password@host`, of which only the password is secret; a user without one may be a token. */
const userInfo = (text: string, from: number): Secret | null => {
  const limit = Math.min(text.length, from + maxUserInfoChars)
  let password = -1
  for (let at = from; at < limit; at += 1) {
    const char = text.charAt(at)
    if (char === "@") {
      const start = password === -1 ? from : password
      const value = text.slice(start, at)
      const isSecret =
        value !== "" && !isStandIn(value) && (password !== -1 || (value.length >= 16 && isTokenLike(value)))
      return isSecret ? { start, end: at, kindChars: kindCharsOf(value), isOpen: false } : null
    }
    if (char === ":" && password === -1) password = at + 1
    else if (/[\s/?#"'<>\\,;)]/.test(char)) return null
  }
  return null
}

/** `123456789:AA…`, the token of a bot: https://core.telegram.org/bots/api#authorizing-your-bot */
const botToken = (text: string, separator: number, name: string): Secret | null => {
  if (!/\d{8,10}$/.test(name) || !text.startsWith("AA", separator + 1)) return null
  const end = endOfRun(text, separator + 1, "word")
  return end - separator > 30 ? { start: separator + 1, end, kindChars: 0, isOpen: end === text.length } : null
}

/** `name="password"`, a blank line, and the value: a part of a form (RFC 7578). */
const formPart = (text: string, separator: number): Secret | null => {
  const head = /^="?([\w.[\]-]{1,64})"?[^\r\n]{0,200}(?:\r?\n[^\r\n]{1,200}){0,3}\r?\n\r?\n/.exec(
    text.slice(separator, separator + 1_024)
  )
  const [whole, name = ""] = head ?? []
  if (whole === undefined || verdictOf(name) === "none") return null
  const start = separator + whole.length
  const end = nextOf(text, start, /\r?\n--/g)
  const value = text.slice(start, end)
  return value === "" || isStandIn(value)
    ? null
    : { start, end, kindChars: kindCharsOf(value), isOpen: end === text.length }
}

const afterSeparator = (text: string, at: number, width: number): Secret | null => {
  const { isQuoted, name } = nameBefore(text, at)
  if (name === "") return null
  const code = text.charCodeAt(at)
  if (code === colon) {
    if (text.startsWith("//", at + 1)) return userInfo(text, at + 3)
    // Some writers of JSON escape slashes.
    if (text.startsWith("\\/\\/", at + 1)) return userInfo(text, at + 5)
    const bot = botToken(text, at, name)
    if (bot !== null) return bot
  }
  if (code === equals && name === "name") {
    const part = formPart(text, at)
    if (part !== null) return part
  }
  return verdictOf(name) === "none"
    ? null
    : valueFrom(text, at + width, name, code === colon && isQuoted, code === percent)
}

/** `<password>…</password>` */
const element = (text: string, at: number): Secret | null => {
  const { name, start } = nameBefore(text, at)
  if (start === 0 || text.charCodeAt(start - 1) !== less || verdictOf(name) === "none") return null
  const end = nextOf(text, at + 1, /</g)
  const value = text.slice(at + 1, end)
  return value === "" || isStandIn(value)
    ? null
    : { start: at + 1, end, kindChars: kindCharsOf(value), isOpen: end === text.length }
}

/** `--password secret` */
const option = (text: string, at: number): Secret | null => {
  const end = nextOf(text, at + 2, /[^\w-]/g)
  if (end - at > maxNameChars || !isBlank(text.charCodeAt(end)) || verdictOf(text.slice(at + 2, end)) === "none")
    return null
  return valueFrom(text, end, text.slice(at + 2, end), false)
}

/** The second and third letters of `bearer`, `basic`, `token` and `apikey`. */
const schemeLetters = new Set(["ea", "as", "ok", "pi"].map((pair) => (pair.charCodeAt(0) << 8) | pair.charCodeAt(1)))

/** A scheme and its credential in a text: `Bearer …`. In prose the words have other meanings, so that what follows has to look like one. */
const credential = (text: string, at: number): Secret | null => {
  // Most words are none of these.
  if (!schemeLetters.has(((text.charCodeAt(at + 1) | 32) << 8) | text.charCodeAt(at + 2) | 32)) return null
  const head = /^(bearer|basic|token|apikey)(?:[ \t]{1,4}|\+|%20)/i.exec(text.slice(at, at + 16))
  const [lead = "", word = ""] = head ?? []
  if (lead === "") return null
  const start = at + lead.length
  let end = endOfRun(text, start, "base64")
  while (end < text.length && (text.charCodeAt(end) === tilde || text.charCodeAt(end) === 46))
    end = endOfRun(text, end + 1, "base64")
  // The end of a sentence.
  if (text.charCodeAt(end - 1) === 46) end -= 1
  const value = text.slice(start, end)
  const isKey =
    word.toLowerCase() === "bearer"
      ? value.length >= 8 && (/\d/.test(value) || value.length >= 20)
      : word.toLowerCase() === "basic"
        ? value.length >= 8 && Buffer.from(value.slice(0, 1_024), "base64").includes(":")
        : value.length >= 20 && /\d/.test(value)
  return isKey ? { start: at, end, kindChars: lead.length, isOpen: end === text.length } : null
}

/** 32 hexadecimal digits, a dot and 16 characters: https://docs.bigmodel.cn/cn/api/introduction */
const idAndSecret = (text: string, at: number): Secret | null => {
  if (text.charCodeAt(at + 32) !== 46) return null
  const end = endOfRun(text, at, "hex")
  if (end - at !== 32 || text.charCodeAt(end) !== 46) return null
  const last = endOfRun(text, end + 1, "word")
  return last - end - 1 >= 16 ? { start: at, end: last, kindChars: 0, isOpen: last === text.length } : null
}

/** A secret of an application of Entra ID has `Q~` in its fourth place. */
const entraSecret = (text: string, at: number): Secret | null => {
  if (at < 5 || text.charAt(at - 1) !== "Q" || !/^[\w.~-]{3}\d$/.test(text.slice(at - 5, at - 1))) return null
  const end = nextOf(text, at + 1, /[^\w.~-]/g)
  return end - at > 30 ? { start: at - 5, end, kindChars: 0, isOpen: end === text.length } : null
}

/** Finds private keys; the place of the next end line is remembered, so that each is searched for once. */
const makePrivateKeyFinder = (text: string) => {
  let nextEnd = -2
  return (at: number): Secret | null => {
    const begin = privateKeyBegin.exec(text.slice(at, at + maxBoundaryChars))?.[0]
    if (begin === undefined) return null
    const from = at + begin.length
    if (nextEnd !== -1 && nextEnd < from) nextEnd = text.indexOf("-----END", from)
    if (nextEnd !== -1 && nextEnd - at <= maxPrivateKeyChars) {
      const last = privateKeyEnd.exec(text.slice(nextEnd, nextEnd + maxBoundaryChars))?.[0].length ?? 0
      return { start: at, end: nextEnd + last, kindChars: begin.length, isOpen: false }
    }
    const end = nextOf(text, from, /[^A-Za-z0-9+/=\r\n\\]/g)
    if (end === from) return null
    return { start: at, end, kindChars: begin.length, isOpen: text.length - at < maxPrivateKeyChars }
  }
}

const schemeStarts = new Set([..."bBtTaA"].map((char) => char.charCodeAt(0)))

/** Finds the secrets in their order; none overlaps another. */
export const findSecrets = (text: string): ReadonlyArray<Secret> => {
  const found: Array<Secret> = []
  const privateKey = makePrivateKeyFinder(text)
  const length = text.length
  let isWordBefore = false
  let last = 0
  let wordFrom = -1

  const secretAt = (at: number, code: number): Secret | null => {
    switch (code) {
      case colon:
      case equals:
        return afterSeparator(text, at, 1)
      case percent:
        return text.startsWith("3D", at + 1) || text.startsWith("3d", at + 1) ? afterSeparator(text, at, 3) : null
      case backslash:
        return text.startsWith("u003d", at + 1) || text.startsWith("u003D", at + 1) ? afterSeparator(text, at, 6) : null
      case greater:
        return element(text, at)
      case tilde:
        return entraSecret(text, at)
      case hyphen:
        if (text.charCodeAt(at + 1) !== hyphen || (at > 0 && text.charCodeAt(at - 1) === hyphen)) return null
        return text.startsWith("-----BEGIN", at) ? privateKey(at) : option(text, at)
      default:
        return null
    }
  }

  const secretInWord = (at: number, code: number): Secret | null => {
    const shaped = shapeAt(text, at)
    if (shaped !== null) {
      const { end, shape } = shaped
      return { start: at, end, kindChars: shape.begin.length, isOpen: end === length }
    }
    if (schemeStarts.has(code)) return credential(text, at)
    return isHexCode(code) ? idAndSecret(text, at) : null
  }

  for (let at = 0; at < length;) {
    const code = text.charCodeAt(at)
    // Most of a text is the inside of words, and what is between them.
    if (isWordBefore && at !== wordFrom && isWordCode(code)) {
      at += 1
      continue
    }
    let secret: Secret | null = null
    if (isWordCode(code)) {
      if (!isWordBefore || at === wordFrom) secret = secretInWord(at, code)
      // The first word behind a hyphen goes on with the one before.
      isWordBefore = true
    } else {
      isWordBefore = code === hyphen && isWordBefore
      if (code === backslash || code === percent) wordFrom = behindEscape(text, at, code)
      secret = secretAt(at, code)
    }
    if (secret === null || secret.end <= at) {
      at += 1
      continue
    }
    // What begins before the end of the last one is the rest of a word that is masked already.
    found.push(secret.start < last ? { ...secret, start: last, kindChars: 0 } : secret)
    at = secret.end
    last = secret.end
    isWordBefore = true
  }
  return found
}
