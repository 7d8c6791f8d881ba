/** Listeners of hooks for tests, in the place of plugins: they keep what they are called with. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { RequestHook } from "../../src/subjects/plugins/entity.ts"
import { pluginPayloads } from "../../src/contract/domain/PluginPayload.ts"
import type {
  BlockedAnswer,
  HookCall,
  HookEvent,
  HookListener,
  HookOutcome,
  HookUse
} from "../../src/agents/plugins/hooks/Listener.ts"

export interface TestListener extends HookListener {
  /** All calls so far, waiting ones and events. */
  readonly calls: ReadonlyArray<HookCall>
  readonly of: (hook: RequestHook) => ReadonlyArray<HookCall>
}

export interface TestListenerOptions {
  readonly hooks: { readonly [Hook in RequestHook]?: Partial<HookUse> }
  readonly failClosed?: boolean
  readonly call?: (call: HookCall) => Effect.Effect<HookOutcome>
  readonly notify?: (calls: ReadonlyArray<HookCall>) => Effect.Effect<number>
}

const none = { metadata: null, ms: 1 } as const

export const unchanged: HookOutcome = { _tag: "Unchanged", ...none }
export const failed: HookOutcome = { _tag: "Failed", reason: "it threw", ...none }
export const changedTo = (body: unknown): HookOutcome => ({
  _tag: "Changed",
  body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
  ...none
})
export const blocked = (answer: Partial<BlockedAnswer> = {}): HookOutcome => ({
  _tag: "Blocked",
  answer: { status: null, error: null, body: null, headers: {}, ...answer },
  ...none
})

export const textOf = ({ body }: HookCall): string => (body === null ? "" : Buffer.from(body).toString())

/** Returns the part of a call that a plugin sees: its payload, with the answer's body where it has one. */
export const payloadOf = (call: HookCall): unknown =>
  call.context.hook === "onResponse"
    ? { ...call.payload, body: call.body === null ? null : JSON.parse(textOf(call)) }
    : call.payload

/** Null, or what its schema says is wrong with it. Members that the schema does not name are wrong. */
export const problemOf = (call: HookCall): string | null => {
  const schema: Schema.Schema.AnyNoContext = pluginPayloads[call.context.hook]
  const read = Schema.decodeUnknownEither(schema, { onExcessProperty: "error" })(payloadOf(call))
  return read._tag === "Left" ? `${call.context.hook}: ${read.left.message}` : null
}

const callOf = ({ body, permission, text }: HookEvent): HookCall => {
  const [context = "", payload = ""] = text.split("\n")
  return { context: JSON.parse(context), payload: JSON.parse(payload), permission, body }
}

export const listener = (plugin: string, options: TestListenerOptions): TestListener => {
  const calls: Array<HookCall> = []
  const { call = () => Effect.succeed(unchanged), failClosed = false, notify = () => Effect.succeed(0) } = options
  const hooks = Object.fromEntries(
    Object.entries(options.hooks).map(([hook, use]) => [
      hook,
      { priority: 100, stream: "observe", body: false, ...use } satisfies HookUse
    ])
  )
  return {
    plugin,
    failClosed,
    hooks,
    calls,
    of: (hook) => calls.filter(({ context }) => context.hook === hook),
    call: (asked) =>
      Effect.suspend(() => {
        calls.push(asked)
        return call(asked)
      }),
    notify: (batch) =>
      Effect.suspend(() => {
        const told = batch.map(callOf)
        calls.push(...told)
        return notify(told)
      })
  }
}

export const allHooks: TestListenerOptions["hooks"] = {
  onRequest: {},
  onModelSelect: {},
  onComboResolve: {},
  onRateLimit: {},
  onQuotaExhaust: {},
  onProviderError: {},
  onStreamStart: {},
  onStreamEnd: {},
  onResponse: {},
  onError: {}
}
