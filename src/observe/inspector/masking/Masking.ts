/**
 * The masker of the traffic inspector: one for headers, addresses and bodies, wherever they are shown or kept. Of a secret at most its kind and
 * its last four characters remain: `Bearer ***abcd`, `sk-ant-***wxyz`. Linear in the length of the text. Pure.
 */
import type { RecordHeaders } from "../../../contract/domain/TrafficRecord.ts"
import { findSecrets, kindCharsOf, type Secret } from "./FindSecrets.ts"
import { isSecretHeaderName, isSecretParameter } from "./SecretNames.ts"

const mark = "***"
const shownTail = 4
/** Smallest length of a secret of which the end is shown. */
const leastToShowTail = 12

const maskOf = (value: string, kindChars: number): string => {
  const secret = value.length - kindChars
  // The tail must be readable as it is in any text: without quotes, blanks or escapes.
  const tail =
    secret >= leastToShowTail && !value.startsWith("-----")
      ? (/[\w.~+/=-]{1,4}$/.exec(value.slice(-shownTail))?.[0] ?? "")
      : ""
  return value.slice(0, kindChars) + mark + tail
}

const maskSpan = (text: string, { end, kindChars, needsQuotes, start }: Secret): string => {
  const masked = maskOf(text.slice(start, end), kindChars)
  return needsQuotes === true ? `"${mark}"` : masked
}

/** The text between two places, with its secrets masked. None of them may be cut by the places. */
const maskedPart = (text: string, secrets: ReadonlyArray<Secret>, from: number, to: number): string => {
  let out = ""
  let at = from
  for (const secret of secrets) {
    if (secret.start < from || secret.end > to) continue
    out += text.slice(at, secret.start) + maskSpan(text, secret)
    at = secret.end
  }
  return out + text.slice(at, to)
}

/** A whole text. */
export const maskText = (text: string): string => {
  const secrets = findSecrets(text)
  return secrets.length === 0 ? text : maskedPart(text, secrets, 0, text.length)
}

/** A value that is known to be a secret. */
export const maskValue = (value: string): string =>
  value === "" || value.includes(mark) ? value : maskOf(value, kindCharsOf(value))

const pairs = (value: string): string =>
  value
    .split(";")
    .map((pair) => {
      const sign = pair.indexOf("=")
      return sign < 0 ? maskValue(pair.trim()) : `${pair.slice(0, sign + 1)}${maskValue(pair.slice(sign + 1))}`
    })
    .join(";")

/** The attributes of a cookie are no secrets. */
const setCookie = (line: string): string => {
  const end = line.indexOf(";")
  return end < 0 ? pairs(line) : pairs(line.slice(0, end)) + line.slice(end)
}

export const maskHeader = (name: string, value: string): string => {
  const lower = name.toLowerCase()
  if (lower === "cookie") return pairs(value)
  if (lower === "set-cookie") return value.split("\n").map(setCookie).join("\n")
  if (lower === "location" || lower === "referer" || lower === ":path") return maskUrl(value)
  return isSecretHeaderName(name) ? maskValue(value) : maskText(value)
}

export const maskHeaders = (headers: RecordHeaders): RecordHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, maskHeader(name, value)]))

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    return null
  }
}

/** A body of a form (`application/x-www-form-urlencoded`). */
export const maskForm = (text: string): string =>
  text
    .split("&")
    .map((pair) => parameter(pair))
    .join("&")

const parameter = (pair: string): string => {
  const sign = pair.indexOf("=")
  if (sign < 0) return maskText(pair)
  const value = pair.slice(sign + 1)
  const name = decoded(pair.slice(0, sign)) ?? pair.slice(0, sign)
  if (isSecretParameter(name)) return `${pair.slice(0, sign + 1)}${maskValue(value)}`
  const masked = maskText(value)
  if (masked !== value) return `${pair.slice(0, sign + 1)}${masked}`
  const plain = value.includes("%") ? decoded(value) : null
  const maskedPlain = plain === null ? plain : maskText(plain)
  return maskedPlain === plain || maskedPlain === null
    ? pair
    : `${pair.slice(0, sign + 1)}${encodeURIComponent(maskedPlain)}`
}

/** A path or whole address, with its query. */
export const maskUrl = (url: string): string => {
  const [before = "", ...rest] = url.split("#")
  const mark = before.indexOf("?")
  const fragment = rest.length === 0 ? "" : `#${rest.join("#").split("&").map(parameter).join("&")}`
  if (mark < 0) return maskText(before) + fragment
  return `${maskText(before.slice(0, mark))}?${before
    .slice(mark + 1)
    .split("&")
    .map(parameter)
    .join("&")}${fragment}`
}

/** A text that comes in pieces. What may be the beginning of a secret is held back until it is known. */
export interface StreamMasker {
  readonly push: (piece: string) => string
  /** Returns the held text; with `isCut`, where the text was cut off, without a possible beginning of a secret. */
  readonly end: (isCut?: boolean) => string
}

/** A secret is known by this many characters from the start of its name, but for private keys, which are held back whole. */
const heldChars = 2_048
/** Characters sent already, but needed to understand the following ones. */
const contextChars = 256
const leastScanned = 8_192
/** Length of a secret in characters beyond which the rest is dropped as it comes. */
const maxOpenChars = 262_144

export const makeStreamMasker = (): StreamMasker => {
  let buffer = ""
  /** The part of the buffer that was given out. */
  let sentLength = 0
  let scannedLength = 0
  let isSwallowing = false

  const take = (to: number, secrets: ReadonlyArray<Secret>): string => {
    const out = maskedPart(buffer, secrets, sentLength, to)
    const from = Math.max(0, to - contextChars)
    buffer = buffer.slice(from)
    sentLength = to - from
    scannedLength = buffer.length
    return out
  }

  /** No secret that is known lies over the place. */
  const placeBefore = (secrets: ReadonlyArray<Secret>, limit: number): number => {
    for (const { end, isOpen, start } of secrets) {
      if (start >= limit) break
      if (isOpen) return start
      if (end > limit) return end
    }
    return limit
  }

  const swallow = (piece: string): string => {
    const at = piece.search(/[\s"'`\\,;&<>]/)
    if (at < 0) return ""
    isSwallowing = false
    return push(piece.slice(at))
  }

  const push = (piece: string): string => {
    if (isSwallowing) return swallow(piece)
    buffer += piece
    if (buffer.length - scannedLength < Math.max(leastScanned, scannedLength)) return ""
    const secrets = findSecrets(buffer)
    const place = Math.max(sentLength, placeBefore(secrets, buffer.length - heldChars))
    if (buffer.length - place <= maxOpenChars) return take(place, secrets)
    const open = secrets.find(({ start }) => start === place)
    const out = take(place, secrets) + buffer.slice(sentLength, sentLength + (open?.kindChars ?? 0)) + mark
    buffer = ""
    sentLength = 0
    scannedLength = 0
    isSwallowing = true
    return out
  }

  const end = (isCut = false): string => {
    if (isSwallowing) return ""
    const secrets = findSecrets(buffer)
    const place = isCut
      ? Math.max(sentLength, placeBefore(secrets, Math.max(0, buffer.length - heldChars)))
      : buffer.length
    const out = take(place, secrets)
    buffer = ""
    sentLength = 0
    return out
  }
  return { push, end }
}
