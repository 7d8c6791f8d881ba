/** Reads what came out of a sandbox. Pure: all of it is text that a plugin has made. */
import * as Schema from "effect/Schema"
import { PluginHook } from "../../../subjects/plugins/entity.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../../wire/json/Json.ts"
import { readAnswerJson, Unreadable } from "../../../wire/json/Bounds.ts"
import type { BlockedAnswer, HookOutcome } from "../hooks/Listener.ts"
import { crossing } from "./Limits.ts"
import type { DefinedPlugin, LogLine } from "./Sandbox.ts"
import type { FromThread, ThreadLine } from "./thread/Protocol.ts"

type Sent = Extract<FromThread, { readonly kind: "outcome" }>

const isText = (value: unknown): value is string => typeof value === "string"

/** Objects that a later copy of members could change the prototype of are refused. */
const hasPrototypeMember = (value: Json | undefined): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (isArray(value)) return value.some(hasPrototypeMember)
  return Object.keys(value).some((key) => key === "__proto__" || hasPrototypeMember(value[key]))
}

/** An object within limits; else what is wrong with it. */
const readObject = (text: string, maxChars: number, what: string): JsonObject | string => {
  if (text.length > maxChars) return `${what} has more than ${maxChars} characters, the limit`
  const value = readAnswerJson(text)
  if (value instanceof Unreadable) return `${what}: ${value.message}`
  if (!isObject(value)) return `${what} must be an object`
  return text.includes("__proto__") || text.includes("\\u")
    ? hasPrototypeMember(value)
      ? `${what}: a member may not be named __proto__`
      : value
    : value
}

const maxHeaders = 32
const maxHeaderChars = 4_096

const headersOf = (value: Json | undefined): Readonly<Record<string, string>> | string => {
  const headers: Record<string, string> = {}
  const entries = isObject(value) ? Object.entries(value) : []
  if (entries.length > maxHeaders) return `More than ${maxHeaders} headers`
  for (const [name, text] of entries) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)) return `${name.slice(0, 100)} is no name of a header`
    const value2 = typeof text === "number" ? String(text) : text
    // oxlint-disable-next-line no-control-regex -- they end a header
    if (!isText(value2) || value2.length > maxHeaderChars || /[\0-\x08\x0a-\x1f\x7f]|[^\0-\xff]/.test(value2)) {
      return `The header ${name} has no value that can be sent`
    }
    headers[name.toLowerCase()] = value2
  }
  return headers
}

const answerOf = (text: string): BlockedAnswer | string => {
  const read = readObject(text, crossing.answerChars, "The response of blockRequest")
  if (isText(read)) return read
  const { body, error, headers, status } = read
  const sent = headersOf(headers)
  if (isText(sent)) return sent
  const code = isObject(error) ? error["code"] : null
  const message = isObject(error) ? error["message"] : null
  return {
    status: typeof status === "number" && Number.isInteger(status) && status >= 200 && status <= 599 ? status : null,
    error: isText(message)
      ? { message: message.slice(0, 4_000), code: isText(code) ? code.slice(0, 100) : null }
      : null,
    body: isObject(body) ? body : null,
    headers: sent
  }
}

const failed = (reason: string, ms: number): HookOutcome => ({
  _tag: "Failed",
  reason: reason.slice(0, crossing.reasonChars),
  metadata: null,
  ms
})

export const outcomeOf = (sent: Sent, ms: number, maxBodyBytes: number): HookOutcome => {
  const read = isText(sent.metadata) ? readObject(sent.metadata, crossing.smallChars, "The metadata") : null
  if (isText(read)) return failed(read, ms)
  const common = { metadata: read, ms }
  switch (sent.tag) {
    case "unchanged":
      return { _tag: "Unchanged", ...common }
    case "changed":
      return sent.body instanceof Uint8Array && sent.body.byteLength <= maxBodyBytes
        ? { _tag: "Changed", body: sent.body, ...common }
        : failed(`The body has more than ${maxBodyBytes} bytes, the limit`, ms)
    case "blocked": {
      const answer = answerOf(isText(sent.answer) ? sent.answer : "{}")
      return isText(answer) ? failed(answer, ms) : { _tag: "Blocked", answer, ...common }
    }
    default:
      return failed(isText(sent.reason) ? sent.reason : "It failed", ms)
  }
}

export const failedOutcome = failed

const isHook = Schema.is(PluginHook)

const texts = (value: Json | undefined): ReadonlyArray<string> =>
  isArray(value) ? value.filter(isText).slice(0, 64) : []

/** Null: it cannot be read. */
export const definedOf = (text: string): DefinedPlugin | null => {
  const read = readObject(text, crossing.smallChars, "The definition")
  if (isText(read)) return null
  const { enabled, hooks, name, priority, strategies } = read
  return {
    name: isText(name) ? name : null,
    priority: typeof priority === "number" && Number.isFinite(priority) ? priority : null,
    enabled: enabled !== false,
    hooks: texts(hooks).filter(isHook),
    strategies: texts(strategies)
  }
}

const levels = ["debug", "info", "warn", "error"] as const

export const lineOf = ({ hook, level, message }: ThreadLine, atMs: number): LogLine => ({
  atMs,
  level: levels[level] ?? "info",
  hook: isHook(hook) ? hook : null,
  message: String(message).slice(0, crossing.lineChars)
})
