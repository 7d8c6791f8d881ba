/** Hooks of one request: their input, and their changes. A class, because one is made per request. */
import type { Mutable } from "effect/Types"
import type { PluginAction, PluginCall } from "../../../subjects/routing/entity.ts"
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import type { RequestHook } from "../../../subjects/plugins/entity.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import type { HookContext } from "./Listener.ts"
import { visibleHeaders } from "./VisibleHeaders.ts"

/** Facts of a request when it begins. */
export interface HookedRequest {
  readonly requestId: string
  /** Epoch milliseconds. */
  readonly receivedMs: number
  readonly wire: WireName
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly apiKeyId: string | null
  /** Permission to keep text that plugins write about it. */
  readonly permission: ContentPermission | null
}

/** Most bytes of the metadata of all plugins together, as JSON. More is not added. */
export const maxMetadataBytes = 65_536
/** Most bytes of it that the decision record keeps. */
export const maxKeptMetadataBytes = 4_096

const none: JsonObject = {}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "")

export class HookRun {
  readonly #request: HookedRequest
  readonly #calls: Array<PluginCall> = []
  readonly #touched: Array<string> = []
  #headers: Readonly<Record<string, string>> | null = null
  #metadata: JsonObject = none
  /** Model as the client wrote it; empty before its body was read. */
  model = ""
  /** Provider of the target that is asked, or that the model names; else empty. */
  provider = ""
  stream = false
  /** True when plugins get its whole answer when it has ended: `calls` may still grow. */
  mayObserve = false
  /** True when `onStreamStart` was emitted: its end is emitted as well. */
  hasStarted = false

  constructor(request: HookedRequest) {
    this.#request = request
  }

  get permission(): ContentPermission | null {
    return this.#request.permission
  }

  /** Live: an observed stream is called for when the request has ended. */
  get calls(): ReadonlyArray<PluginCall> {
    return this.#calls
  }

  get metadata(): JsonObject {
    return this.#metadata
  }

  /** Plugins that have changed or blocked it, without repetition. */
  get touched(): ReadonlyArray<string> {
    return this.#touched
  }

  context(hook: RequestHook, provider = this.provider): HookContext {
    const { apiKeyId, endpoint, headers, receivedMs, requestId, wire } = this.#request
    return {
      requestId,
      model: this.model,
      provider,
      headers: (this.#headers ??= visibleHeaders(headers)),
      metadata: this.#metadata,
      timestamp: receivedMs,
      hook,
      wire,
      endpoint,
      stream: this.stream,
      apiKeyId
    }
  }

  called(name: string, hook: RequestHook, action: PluginAction, ms: number): void {
    this.#calls.push({ name, hook, action, ms })
    if ((action === "modified" || action === "blocked") && !this.#touched.includes(name)) this.#touched.push(name)
  }

  /** Marks a change that is not sent after all. */
  undone(name: string, hook: RequestHook): void {
    const at = this.#calls.findLastIndex((call) => call.name === name && call.hook === hook)
    const call = this.#calls[at]
    if (call === undefined) return
    this.#calls[at] = { ...call, action: "failed" }
    if (
      !this.#calls.some(({ action, name: other }) => other === name && (action === "modified" || action === "blocked"))
    )
      this.#touched.splice(this.#touched.indexOf(name), 1)
  }

  /** False: it exceeds the limit, and nothing of it is added. */
  add(metadata: JsonObject): boolean {
    const all: Mutable<JsonObject> = { ...this.#metadata, ...metadata }
    if (sizeOf(all) > maxMetadataBytes) return false
    this.#metadata = all
    return true
  }

  /** The first members that fit into the decision record; null: there are none. */
  keptMetadata(): JsonObject | null {
    if (this.permission === null) return null
    const kept: Mutable<JsonObject> = {}
    let bytes = 2
    for (const [name, value] of Object.entries(this.#metadata)) {
      bytes += sizeOf(name) + sizeOf(value) + 2
      if (bytes > maxKeptMetadataBytes) break
      Object.defineProperty(kept, name, { value, enumerable: true, writable: true, configurable: true })
    }
    return Object.keys(kept).length === 0 ? null : kept
  }
}
