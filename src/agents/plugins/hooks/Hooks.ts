/**
 * The hooks of requests: the one object of plugins that the path of a request knows. With no listener a request reads booleans of it and nothing else.
 * Calls that are waited for run one after the other, lower priorities first; all other events go through a bounded line per plugin, in batches.
 * A request asks those that listen at the moment it comes to a hook: a change of listeners concerns running requests from their next hook on. A chain
 * of calls that has begun goes on with those it began with, as far as they are still active.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import type { RequestHook } from "../../../subjects/plugins/entity.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import * as AppConfig from "../../../platform/AppConfig.ts"
import type { HookRun } from "./HookRun.ts"
import type { HookStats } from "./HookStats.ts"
import { type BlockedAnswer, eventOf, type HookEvent, type HookListener, type HookOutcome } from "./Listener.ts"
import {
  failedBy,
  ActiveListeners,
  holdsStreams,
  observesStreams,
  type Active,
  type Listens,
  type FailingPlugin
} from "./ActiveListeners.ts"

/**
 * Pause in ms before each batch that is not full: events of requests that run at the same time cross together. Waking a
 * thread costs more than the events.
 */
export const gatheringMs = 50
/** Most observed streams that are sent to a plugin at once; further ones are dropped. */
export const mostObserving = 64

export type RequestVerdict =
  /** `body`: the same bytes where nothing was changed. */
  | { readonly _tag: "Passed"; readonly body: Uint8Array }
  | { readonly _tag: "Blocked"; readonly plugin: string; readonly answer: BlockedAnswer }
  | PluginRefusal

/** A plugin without which no request may pass has failed. */
export interface PluginRefusal {
  readonly _tag: "Refused"
  readonly plugin: string
}

export type ResponseVerdict =
  /** `body`: the same bytes where nothing was changed. */
  { readonly _tag: "Passed"; readonly body: Uint8Array | null } | PluginRefusal

/** A whole answer, as plugins are asked about it. */
export interface HookedAnswer {
  /** Payload but for `body`. */
  readonly payload: JsonObject
  /** JSON text; null where the answer is none: then it cannot be changed. */
  readonly body: Uint8Array | null
  /** The provider that has answered. */
  readonly provider: string
  /** Hot: checks whether a changed answer can be given to the client. */
  readonly isReadable: (body: Uint8Array) => boolean
}

export class Hooks extends Context.Tag("gateway/agents/plugins/hooks/Hooks")<
  Hooks,
  {
    readonly listens: Listens
    /**
     * Sets the listeners; in force at once. Counts of a plugin go on, its failures in a row begin anew with a new
     * listener.
     */
    readonly set: (listeners: ReadonlyArray<HookListener>) => void
    /** `onRequest`. Interrupted, it interrupts the call in progress. */
    readonly request: (run: HookRun, body: Uint8Array) => Effect.Effect<RequestVerdict>
    /** `onResponse` of those that may change the answer. `isStream`: only those that hold streams back. */
    readonly response: (run: HookRun, answer: HookedAnswer, isStream: boolean) => Effect.Effect<ResponseVerdict>
    /** `onResponse` of those that only observe streams, in the background. */
    readonly observe: (run: HookRun, answer: HookedAnswer) => void
    /** Hot: an event that no request waits for. `body`: asked for where a listener wants it. */
    readonly emit: (
      run: HookRun,
      hook: RequestHook,
      payload: object,
      body?: () => Uint8Array | null,
      provider?: string
    ) => void
    /** A listener without which nothing may pass at this hook; null: there is none. `isStream`: of those that hold streams back. */
    readonly guardOf: (hook: "onRequest" | "onResponse", isStream: boolean) => string | null
    readonly statsOf: (plugin: string) => HookStats
    /** Adds a listener that is called once per plugin that fails too often. The returned function removes it. */
    readonly onFailing: (listener: (failing: FailingPlugin) => void) => () => void
    /** Waits until all queues are empty and no call is in progress. */
    readonly idle: Effect.Effect<void>
  }
>() {}

/** Checks a plugin's change of an answer that is not sent. */
const usable = (outcome: HookOutcome, { body, isReadable }: HookedAnswer): HookOutcome => {
  if (outcome._tag === "Blocked") return failedBy(outcome, "an answer cannot be blocked, only changed")
  if (outcome._tag !== "Changed") return outcome
  return body !== null && isReadable(outcome.body)
    ? outcome
    : failedBy(outcome, "its answer cannot be read in the client's format")
}

/** Calls of listeners that may change a request or its answer. */
const makeCalls = (listeners: ActiveListeners, maxBodyBytes: number, run: (effect: Effect.Effect<void>) => unknown) => {
  const request: typeof Hooks.Service.request = Effect.fnUntraced(function* (hookRun: HookRun, asked: Uint8Array) {
    let body = asked
    for (const each of listeners.of("onRequest")) {
      const call = { context: hookRun.context("onRequest"), permission: hookRun.permission, body, payload: {} }
      const deliver = yield* listeners.called(each, call)
      if (deliver === null) continue
      const isTooLarge = deliver._tag === "Changed" && deliver.body.length > maxBodyBytes
      const outcome = listeners.settle(
        each,
        hookRun,
        "onRequest",
        isTooLarge ? failedBy(deliver, `its body is larger than ${maxBodyBytes} bytes`) : deliver
      )
      const { failClosed, plugin } = each.listener
      if (outcome._tag === "Changed") body = outcome.body
      if (outcome._tag === "Blocked") return { _tag: "Blocked", plugin, answer: outcome.answer } as const
      if (outcome._tag === "Failed" && failClosed) return { _tag: "Refused", plugin } as const
    }
    return { _tag: "Passed", body } as const
  })

  const response: typeof Hooks.Service.response = Effect.fnUntraced(function* (
    hookRun: HookRun,
    answer: HookedAnswer,
    isStream: boolean
  ) {
    let { body } = answer
    for (const each of listeners.of("onResponse")) {
      if (isStream && !holdsStreams(each)) continue
      const context = hookRun.context("onResponse", answer.provider)
      const told = yield* listeners.called(each, {
        context,
        permission: hookRun.permission,
        body,
        payload: answer.payload
      })
      if (told === null) continue
      const outcome = listeners.settle(each, hookRun, "onResponse", usable(told, answer))
      const { failClosed, plugin } = each.listener
      if (outcome._tag === "Changed") body = outcome.body
      if (outcome._tag === "Failed" && failClosed) return { _tag: "Refused", plugin } as const
    }
    return { _tag: "Passed", body } as const
  })

  const observe: typeof Hooks.Service.observe = (hookRun, answer) => {
    for (const each of listeners.of("onResponse")) {
      if (!observesStreams(each) || each.isStopped) continue
      if (each.observing >= mostObserving) {
        each.counts.dropped()
        continue
      }
      each.observing += 1
      const context = hookRun.context("onResponse", answer.provider)
      const asked = { context, permission: hookRun.permission, body: answer.body, payload: answer.payload }
      const calling = Effect.map(listeners.called(each, asked), (told) => {
        if (told === null) return
        // A sent change is not undone.
        const isDone = told._tag === "Unchanged" || told._tag === "Failed"
        listeners.settle(each, hookRun, "onResponse", isDone ? told : { ...told, _tag: "Unchanged" })
      })
      run(Effect.onExit(calling, () => Effect.sync(() => void (each.observing -= 1))))
    }
  }

  return { observe, request, response }
}

/** Events for listeners that only watch: they are gathered, and each listener gets them in batches. */
const makeEmit = (
  listeners: ActiveListeners,
  run: (effect: Effect.Effect<void>) => unknown
): typeof Hooks.Service.emit => {
  const told = (each: Active, batch: ReadonlyArray<HookEvent>): Effect.Effect<void> =>
    Effect.map(Effect.exit(each.listener.notify(batch)), (exit) => {
      const failed = Exit.isSuccess(exit) ? Math.min(exit.value, batch.length) : batch.length
      each.counts.notified(batch.length, failed)
      if (failed < batch.length) each.failures = 0
      for (let count = 0; count < failed; count += 1) listeners.failedOnce(each, "it failed at an event")
    })

  const drain = (each: Active): Effect.Effect<void> =>
    Effect.whileLoop({
      while: () => !each.line.isEmpty && !each.isStopped,
      body: () => {
        const next = Effect.suspend(() => told(each, each.line.take()))
        return each.line.hasBatch ? next : Effect.delay(next, gatheringMs)
      },
      step: () => {}
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          each.isDraining = false
        })
      )
    )

  return (hookRun, hook, payload, bodyOf, provider) => {
    const context = hookRun.context(hook, provider)
    const { permission } = hookRun
    let plain: HookEvent | null = null
    let full: HookEvent | null = null
    for (const each of listeners.of(hook)) {
      if (each.isStopped) continue
      const wantsBody = bodyOf !== undefined && each.listener.hooks[hook]?.body === true
      const event: HookEvent = wantsBody
        ? (full ??= eventOf({ context, permission, body: bodyOf(), payload: payload as JsonObject }))
        : (plain ??= eventOf({ context, permission, body: null, payload: payload as JsonObject }))
      if (!each.line.add(event)) {
        each.counts.dropped()
        continue
      }
      if (each.isDraining) continue
      each.isDraining = true
      run(drain(each))
    }
  }
}

export const make = Effect.gen(function* () {
  const { maxBodyBytes } = yield* AppConfig.AppConfig
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)<never>()
  const listeners = new ActiveListeners()
  return Hooks.of({
    listens: listeners.listens,
    set: (given) => listeners.set(given),
    ...makeCalls(listeners, maxBodyBytes, run),
    emit: makeEmit(listeners, run),
    guardOf: (hook, isStream) =>
      listeners.of(hook).find((each) => each.listener.failClosed && (!isStream || holdsStreams(each)))?.listener
        .plugin ?? null,
    statsOf: (plugin) => listeners.statsOf(plugin),
    onFailing: (listener) => listeners.onFailing(listener),
    idle: FiberSet.awaitEmpty(fibers)
  })
})

/** Layer without listeners, until some are set. */
export const layer: Layer.Layer<Hooks, never, AppConfig.AppConfig> = Layer.scoped(Hooks, make)
