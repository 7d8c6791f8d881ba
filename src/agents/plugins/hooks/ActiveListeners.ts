/** The listeners in force: which of them are called at a hook, in which order, and which have failed too often. */
import type { Mutable } from "effect/Types"
import * as Effect from "effect/Effect"
import type { HookListener, HookOutcome, HookCall } from "./Listener.ts"
import { HookCounts, type HookStats, noStats } from "./HookStats.ts"
import { EventLine } from "./EventLine.ts"
import { RequestHook } from "../../../subjects/plugins/entity.ts"
import type { PluginAction } from "../../../subjects/routing/entity.ts"
import type { HookRun } from "./HookRun.ts"
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"

/** Failures of one plugin in a row after which it is called no more. */
export const mostFailures = 5

/** Events with listeners. The same object as long as the gateway runs. */
export type Listens = Readonly<Record<RequestHook, boolean>> & {
  /** True when any event has listeners. */
  readonly any: boolean
  /** True when whole answers of streams are listened to before their first byte. */
  readonly bufferedStreams: boolean
}

/** A plugin has failed too often in a row. It is called no more until listeners are set anew; with `failClosed` requests are refused meanwhile. */
export interface FailingPlugin {
  readonly plugin: string
  readonly failures: number
  /** Reason of the last failure. */
  readonly reason: string
}

/** A listener in force. */
export interface Active {
  readonly listener: HookListener
  readonly counts: HookCounts
  readonly line: EventLine
  failures: number
  isStopped: boolean
  isDraining: boolean
  observing: number
}

const stopped: HookOutcome = {
  _tag: "Failed",
  reason: "it has failed too often and is called no more",
  metadata: null,
  ms: 0
}

const hooks = RequestHook.literals

const inOrder = (active: ReadonlyArray<Active>, hook: RequestHook): ReadonlyArray<Active> =>
  active
    .filter(({ listener }) => listener.hooks[hook] !== undefined)
    .toSorted(
      ({ listener: one }, { listener: other }) =>
        (one.hooks[hook]?.priority ?? 0) - (other.hooks[hook]?.priority ?? 0) ||
        (one.plugin < other.plugin ? -1 : one.plugin > other.plugin ? 1 : 0)
    )

export const holdsStreams = ({ listener }: Active): boolean => listener.hooks.onResponse?.stream === "buffer"
export const observesStreams = (active: Active): boolean => !holdsStreams(active)

const actionOf = ({ _tag }: HookOutcome): PluginAction => {
  switch (_tag) {
    case "Unchanged":
      return "none"
    case "Changed":
      return "modified"
    case "Blocked":
      return "blocked"
    case "Failed":
      return "failed"
  }
}

export const failedBy = (outcome: HookOutcome, reason: string): HookOutcome => ({
  _tag: "Failed",
  reason,
  metadata: null,
  ms: outcome.ms
})

export class ActiveListeners {
  readonly listens: Mutable<Listens> = {
    ...(Object.fromEntries(hooks.map((hook) => [hook, false])) as Record<RequestHook, boolean>),
    any: false,
    bufferedStreams: false
  }
  readonly #byHook = new Map<RequestHook, ReadonlyArray<Active>>()
  readonly #counts = new Map<string, HookCounts>()
  readonly #failingListeners = new Set<(failing: FailingPlugin) => void>()
  #active: ReadonlyArray<Active> = []

  of(hook: RequestHook): ReadonlyArray<Active> {
    return this.#byHook.get(hook) ?? []
  }

  set(listeners: ReadonlyArray<HookListener>): void {
    this.#active = listeners.map((listener) => this.#made(listener))
    for (const name of this.#counts.keys()) {
      if (!this.#active.some(({ listener }) => listener.plugin === name)) this.#counts.delete(name)
    }
    for (const hook of hooks) {
      const those = inOrder(this.#active, hook)
      this.#byHook.set(hook, those)
      this.listens[hook] = those.length > 0
    }
    this.listens.any = hooks.some((hook) => this.listens[hook])
    this.listens.bufferedStreams = this.of("onResponse").some(holdsStreams)
  }

  statsOf(plugin: string): HookStats {
    return this.#counts.get(plugin)?.view() ?? noStats
  }

  onFailing(listener: (failing: FailingPlugin) => void): () => void {
    this.#failingListeners.add(listener)
    return () => this.#failingListeners.delete(listener)
  }

  failedOnce(each: Active, reason: string): void {
    // What was replaced says nothing of what is in its place.
    if (!this.#active.includes(each)) return
    each.failures += 1
    if (each.failures < mostFailures || each.isStopped) return
    each.isStopped = true
    const failing = { plugin: each.listener.plugin, failures: each.failures, reason }
    for (const tell of this.#failingListeners) tell(failing)
  }

  /** A listener keeps its bounds itself; one that dies all the same has failed. */
  called(each: Active, call: HookCall): Effect.Effect<HookOutcome | null> {
    return each.isStopped
      ? Effect.succeed(stopped)
      : Effect.catchAllDefect(each.listener.call(call), () =>
          Effect.succeed<HookOutcome>({
            _tag: "Failed",
            reason: "the gateway could not call it",
            metadata: null,
            ms: 0
          })
        )
  }

  /** Counts an outcome, and takes its metadata; the outcome that holds. */
  settle(each: Active, hookRun: HookRun, hook: RequestHook, outcome: HookOutcome): HookOutcome {
    const isTaken = outcome.metadata === null || hookRun.add(outcome.metadata)
    const settled =
      isTaken || outcome._tag !== "Unchanged" ? outcome : failedBy(outcome, "the metadata of the request are too large")
    if (outcome !== stopped) this.#noteOutcome(each, hookRun.permission, settled)
    hookRun.called(each.listener.plugin, hook, actionOf(settled), settled.ms)
    return settled
  }

  #made(listener: HookListener): Active {
    const known = this.#active.find((each) => each.listener === listener)
    if (known !== undefined) return known
    const counted = this.#counts.get(listener.plugin) ?? new HookCounts()
    this.#counts.set(listener.plugin, counted)
    return {
      listener,
      counts: counted,
      line: new EventLine(),
      failures: 0,
      isStopped: false,
      isDraining: false,
      observing: 0
    }
  }

  #noteOutcome(each: Active, permission: ContentPermission | null, outcome: HookOutcome): void {
    each.counts.waited(actionOf(outcome), outcome.ms)
    // What it threw may have the words of the request in it.
    if (outcome._tag === "Failed") this.failedOnce(each, permission === null ? "it failed" : outcome.reason)
    else each.failures = 0
  }
}
