/**
 * The functions that the scripts inside a sandbox get. Only text, numbers, truth values and bytes are taken; anything else is refused without
 * being touched, since it could run code of the plugin.
 */
import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten-core"
import { crossing } from "../Limits.ts"

export interface HostApi {
  readonly log: (level: number, line: string) => void
  readonly timer: (id: number, delayMs: number) => void
  readonly clearTimer: (id: number) => void
  /** JSON text of the body of a call. */
  readonly body: (id: number) => string
  /** `kind`: 0 unchanged, 1 changed, 2 blocked, 3 failed. */
  readonly done: (id: number, kind: number, body: string | null, answer: string | null, metadata: string | null) => void
  readonly ask: (id: number, operation: string, args: string) => void
  readonly askNow: (operation: string, args: string) => string
  readonly drop: (id: number) => void
  readonly blob: (id: number) => Uint8Array
  readonly environment: () => string
  readonly uuid: () => string
}

/** Error for the plugin's author; nothing of the host is in it. */
export class Refused extends Error {}

const urlParts = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash"
] as const

const settable: ReadonlySet<string> = new Set(urlParts.filter((part) => part !== "origin"))

const partsOf = (url: URL): string => JSON.stringify(Object.fromEntries(urlParts.map((part) => [part, url[part]])))

const urlText = (text: string, base: string | null): string | null => {
  if (!URL.canParse(text, base ?? undefined)) return null
  return partsOf(new URL(text, base ?? undefined))
}

const urlWith = (href: string, part: string, value: string): string | null => {
  if (!settable.has(part) || !URL.canParse(href)) return null
  const url = new URL(href)
  try {
    Reflect.set(url, part, value)
  } catch {
    return null
  }
  return url.href.length > crossing.urlChars ? null : partsOf(url)
}

const decode = (bytes: Uint8Array, isFatal: boolean): string | null => {
  try {
    return JSON.stringify(new TextDecoder("utf-8", { fatal: isFatal }).decode(bytes))
  } catch {
    return null
  }
}

export const bindHost = (context: QuickJSContext, api: HostApi, maxBodyChars: number): QuickJSHandle => {
  const text = (handle: QuickJSHandle | undefined, maxChars: number): string => {
    if (handle === undefined || context.typeof(handle) !== "string") throw new Refused("A text was expected")
    const length = context.getProp(handle, "length").consume((value) => context.getNumber(value))
    if (length > maxChars) throw new Refused(`The text is longer than ${maxChars} characters, the limit`)
    return context.getString(handle)
  }
  const isNull = (handle: QuickJSHandle | undefined): boolean =>
    handle === undefined || context.eq(handle, context.null) || context.eq(handle, context.undefined)
  const optional = (handle: QuickJSHandle | undefined, maxChars: number): string | null =>
    isNull(handle) ? null : text(handle, maxChars)
  const number = (handle: QuickJSHandle | undefined): number => {
    if (handle === undefined || context.typeof(handle) !== "number") throw new Refused("A number was expected")
    return context.getNumber(handle)
  }
  const bytes = (handle: QuickJSHandle | undefined): Uint8Array => {
    if (handle === undefined || context.typeof(handle) !== "object") throw new Refused("Bytes were expected")
    return context.getArrayBuffer(handle).consume((lifetime) => lifetime.value.slice())
  }
  const given = (value: string | null): QuickJSHandle => (value === null ? context.null : context.newString(value))
  const buffer = (value: Uint8Array): QuickJSHandle => {
    const copy = new Uint8Array(value.byteLength)
    copy.set(value)
    return context.newArrayBuffer(copy.buffer)
  }

  const functions: Readonly<Record<string, (...args: ReadonlyArray<QuickJSHandle>) => QuickJSHandle | void>> = {
    log: (level, line) => api.log(number(level), text(line, 2 * crossing.lineChars)),
    timer: (id, delayMs) => api.timer(number(id), number(delayMs)),
    clearTimer: (id) => api.clearTimer(number(id)),
    body: (id) => context.newString(api.body(number(id))),
    done: (id, kind, body, answer, metadata) =>
      api.done(
        number(id),
        number(kind),
        optional(body, maxBodyChars),
        optional(answer, crossing.answerChars),
        optional(metadata, crossing.smallChars)
      ),
    ask: (id, operation, args) => api.ask(number(id), text(operation, 32), text(args, crossing.askChars)),
    askNow: (operation, args) => context.newString(api.askNow(text(operation, 32), text(args, crossing.askChars))),
    drop: (id) => api.drop(number(id)),
    blobText: (id) => given(decode(api.blob(number(id)), false)),
    blobBytes: (id) => buffer(api.blob(number(id))),
    environment: () => context.newString(api.environment()),
    uuid: () => context.newString(api.uuid()),
    url: (href, base) => given(urlText(text(href, crossing.urlChars), optional(base, crossing.urlChars))),
    urlWith: (href, part, value) =>
      given(urlWith(text(href, crossing.urlChars), text(part, 16), text(value, crossing.urlChars))),
    encode: (json) => buffer(Buffer.from(String(JSON.parse(text(json, crossing.askChars))), "utf8")),
    decode: (from, isFatal) => given(decode(bytes(from), isFatal !== undefined && context.eq(isFatal, context.true)))
  }

  const host = context.newObject()
  for (const [name, run] of Object.entries(functions)) {
    const safe = (...args: ReadonlyArray<QuickJSHandle>): QuickJSHandle | void => {
      try {
        return run(...args)
      } catch (error) {
        if (error instanceof Refused) throw error
        // A message of the host's own could say more than a plugin may know.
        if (error instanceof WebAssembly.RuntimeError) throw error
        throw new Refused("It could not be done")
      }
    }
    context.newFunction(name, safe).consume((made) => context.setProp(host, name, made))
  }
  return host
}
