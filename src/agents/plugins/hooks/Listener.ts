/** One active plugin as the hooks of requests see it. What is behind it is a sandbox. */
import type * as Effect from "effect/Effect"
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import type { RequestHook } from "../../../subjects/plugins/entity.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"

/** First argument of every function of a request; the configuration of the plugin is added by its listener. */
export interface HookContext {
  readonly requestId: string
  /** Model as the client wrote it. */
  readonly model: string
  /** Provider that the model id names until a target is chosen, else "". */
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
  /** Permission to keep text that the plugin writes about it. */
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

/** Answer in the client's wire: `error` with `status`, or `body` as it is. */
export interface BlockedAnswer {
  /** 200 to 599; null: 403, and 200 with a `body`. */
  readonly status: number | null
  readonly error: { readonly message: string; readonly code: string | null } | null
  readonly body: JsonObject | null
  readonly headers: Readonly<Record<string, string>>
}

/** Outcome of a waiting call. It came out of the sandbox: sizes are bounded, everything else is for the reader to check. */
export type HookOutcome = (
  | { readonly _tag: "Unchanged" }
  /** `body` is JSON text of an object in UTF-8. */
  | { readonly _tag: "Changed"; readonly body: Uint8Array }
  | { readonly _tag: "Blocked"; readonly answer: BlockedAnswer }
  /** The call threw, was late or was killed. `reason` is for logs and the owner. */
  | { readonly _tag: "Failed"; readonly reason: string }
) & {
  /** Metadata to add to that of the request; null: none. */
  readonly metadata: JsonObject | null
  readonly ms: number
}

/** Settings for listening to one event. */
export interface HookUse {
  /** Lower runs first; equal ones in the order of the plugins' names. */
  readonly priority: number
  /** Treatment of streams by `onResponse`. */
  readonly stream: "observe" | "buffer"
  /** True when the body is wanted beyond `onRequest` and `onResponse`. */
  readonly body: boolean
}

export interface HookListener {
  readonly plugin: string
  /** True when the request is refused where it fails. */
  readonly failClosed: boolean
  readonly hooks: { readonly [Hook in RequestHook]?: HookUse }
  /**
   * Calls `onRequest` and `onResponse`. Bounded in time; never fails. Null: it is not active any more, and was not
   * called.
   */
  readonly call: (call: HookCall) => Effect.Effect<HookOutcome | null>
  /**
   * Calls all other events: a batch that no request waits for. Bounded in time; never fails. Returns how many of them
   * failed.
   */
  readonly notify: (events: ReadonlyArray<HookEvent>) => Effect.Effect<number>
}
