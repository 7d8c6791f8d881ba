/** One active plugin as the hooks of requests see it. What is behind it is a sandbox. */
import type * as Effect from "effect/Effect"
import type { ContentPermission } from "../../domain/ContentPermission.ts"
import type { RequestHook } from "../../domain/Plugin.ts"
import type { WireName } from "../../domain/Wire.ts"
import type { JsonObject } from "../../wire/json/Json.ts"

/** What every function of a request is given first; the configuration of the plugin is added by its listener. */
export interface HookContext {
  readonly requestId: string
  /** As the client wrote it. */
  readonly model: string
  /** That the model id names until a target is chosen, else "". */
  readonly provider: string
  /** Lower-case names, without credentials. */
  readonly headers: Readonly<Record<string, string>>
  /** Shared by all hooks of the request. */
  readonly metadata: JsonObject
  /** Epoch milliseconds. */
  readonly timestamp: number
  readonly hook: RequestHook
  readonly wire: WireName
  readonly endpoint: string
  readonly stream: boolean
  readonly apiKeyId: string | null
}

export interface HookCall {
  readonly context: HookContext
  /** To keep what the plugin writes of it. */
  readonly permission: ContentPermission | null
  /** The request's body as JSON text in UTF-8; of `onResponse` the answer's. Null where the hook has not asked for it. */
  readonly body: Uint8Array | null
  readonly payload: JsonObject
}

/** A call that no request waits for, as text: it has to wait for others, and text costs less to keep than what it was made of. */
export interface HookEvent {
  readonly hook: RequestHook
  readonly permission: ContentPermission | null
  /** The context and the payload as JSON, with a line break between them. */
  readonly text: string
  readonly body: Uint8Array | null
}

export const eventOf = ({ body, context, payload, permission }: HookCall): HookEvent => ({
  hook: context.hook,
  permission,
  text: `${JSON.stringify(context)}\n${JSON.stringify(payload)}`,
  body
})

/** In the client's wire: `error` with `status`, or `body` as it is. */
export interface BlockedAnswer {
  /** 200 to 599; null: 403, and 200 with a `body`. */
  readonly status: number | null
  readonly error: { readonly message: string; readonly code: string | null } | null
  readonly body: JsonObject | null
  readonly headers: Readonly<Record<string, string>>
}

/** What came out of a waiting call. It came out of the sandbox: sizes are bounded, everything else is for the reader to check. */
export type HookOutcome = (
  | { readonly _tag: "Unchanged" }
  /** `body` is JSON text of an object in UTF-8. */
  | { readonly _tag: "Changed"; readonly body: Uint8Array }
  | { readonly _tag: "Blocked"; readonly answer: BlockedAnswer }
  /** It threw, was late or was killed. `reason` is for logs and the owner. */
  | { readonly _tag: "Failed"; readonly reason: string }
) & {
  /** To be added to that of the request; null: none. */
  readonly metadata: JsonObject | null
  readonly ms: number
}

/** How a plugin listens to one event. */
export interface HookUse {
  /** Lower runs first; equal ones in the order of the plugins' names. */
  readonly priority: number
  /** Of `onResponse` to streams. */
  readonly stream: "observe" | "buffer"
  /** Whether the body is wanted beyond `onRequest` and `onResponse`. */
  readonly body: boolean
}

export interface HookListener {
  readonly plugin: string
  /** Where it fails, the request is refused. */
  readonly failClosed: boolean
  readonly hooks: { readonly [Hook in RequestHook]?: HookUse }
  /** For `onRequest` and `onResponse`. Bounded in time; never fails. Null: it is not active any more, and was not called. */
  readonly call: (call: HookCall) => Effect.Effect<HookOutcome | null>
  /** For all others: a batch that no request waits for. Bounded in time; never fails. Returns how many of them failed. */
  readonly notify: (events: ReadonlyArray<HookEvent>) => Effect.Effect<number>
}
