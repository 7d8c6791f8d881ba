/**
 * Opens a request that plugins listen to: they are asked between its reading and its decision, and may change it, answer it or let it go no
 * further.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Mutable } from "effect/Types"
import { PluginFailed, ShuttingDown } from "../../../contract/domain/Errors.ts"
import type { Hooks } from "../../../agents/plugins/hooks/Hooks.ts"
import type { HookRun } from "../../../agents/plugins/hooks/HookRun.ts"
import type * as Timers from "../../../platform/Timers.ts"
import type * as Catalog from "../../providers/Catalog.ts"
import { invalidField } from "../../../wire/json/FieldReader.ts"
import { blockedBy } from "./BlockedAnswers.ts"
import * as HookEvents from "../../hooks/Events.ts"
import { newRun, runOf } from "../../hooks/HookRuns.ts"
import { namingPlugins } from "./PluginHeader.ts"
import { type Asked, askPlugins } from "./RequestHooks.ts"
import { changingHead } from "../../reply/ReplyHeaders.ts"
import type { Commitment } from "../../ledger/Commitment.ts"
import type { Admitted } from "../../ledger/KeyLimits.ts"
import { Later } from "../../../kernel/Later.ts"
import type { Exchange } from "../../request/Exchange.ts"
import type { Count, Opened, Opening, Read } from "../../request/Opening.ts"
import type { StopSignal } from "../../request/StopSignal.ts"
import type { Ending } from "../../settle/Ending.ts"

/** Services that the opening needs. */
export interface HookedServices {
  readonly catalog: Pick<typeof Catalog.Catalog.Service, "current">
  readonly ending: typeof Ending.Service
  readonly hooks: typeof Hooks.Service
  readonly opening: typeof Opening.Service
  readonly runFork: typeof Effect.runFork
  readonly stop: typeof StopSignal.Service
  readonly timers: typeof Timers.Timers.Service
}

export interface HookedListener {
  /** The limits of its key have let it in, before plugins were asked. */
  readonly admitted: (commitment: Commitment | null) => void
  readonly opened: (opened: Opened) => void
  /** Receives that it goes no further, and was answered. */
  readonly stopped: () => void
  /** The gateway itself is at fault. */
  readonly died: (cause: Cause.Cause<never>) => void
}

/** Marks the exchange: from here on plugins listen to it. */
export const listenedTo = ({ listens }: typeof Hooks.Service, asked: Mutable<Exchange>): Exchange => {
  const run = newRun(asked)
  // In its place: a copy has another form for the engine, which makes every later read of it slower.
  asked.hooks = run
  if (listens.onRequest || listens.onResponse)
    asked.reply = changingHead(asked.reply, (_, headers) => namingPlugins(headers, run.touched))
  return asked
}

const known = ({ catalog }: HookedServices, run: HookRun, read: Read | Count): void => {
  const model = "_tag" in read ? read.parsed["model"] : read.envelope.model
  run.model = typeof model === "string" ? model : ""
  run.stream = "_tag" in read ? false : read.envelope.stream
  const slash = run.model.indexOf("/")
  const spec = slash <= 0 ? null : catalog.current().provider(run.model.slice(0, slash))
  run.provider = spec?.id ?? ""
}

/** Checks a request that a plugin has changed like any other. */
const openedAgain = (
  { opening }: HookedServices,
  first: Read | Count,
  exchange: Exchange,
  admitted: Commitment | null
): Opened => {
  if (exchange === first.exchange) return "_tag" in first ? first : opening.decide(first, admitted)
  const read = opening.read(exchange)
  if ("_tag" in read) return read
  if ("_tag" in first || first.envelope.stream !== read.envelope.stream) {
    return invalidField("stream", "a plugin has changed it; how the answer is sent is for the client to say")
  }
  const leftOut = [...new Set([...first.leftOut, ...read.leftOut])]
  return opening.decide({ ...read, leftOut }, admitted)
}

const nothing = (): void => {}

const aborted = { outcome: "aborted", status: 499, error: "client_left" } as const

/** Plugins let it go no further, or it was not waited for. */
const stopped = (
  { ending, hooks, timers }: HookedServices,
  read: Read | Count,
  verdict: Exclude<Asked, { readonly _tag: "Passed" }>
): void => {
  const { exchange } = read
  const envelope = "_tag" in read ? null : read.envelope
  const requestedModel = exchange.hooks?.model ?? ""
  switch (verdict._tag) {
    case "ClientGone":
      return ending.keep(exchange, { requestedModel, provider: null, model: "", ending: aborted }, nothing)
    case "ShuttingDown":
      return ending.refuse(exchange, new ShuttingDown())
    case "Wrong":
      return ending.refuse(exchange, verdict.error)
    case "Refused":
      return ending.refuse(exchange, new PluginFailed({ plugin: verdict.plugin, model: requestedModel }))
    case "Blocked": {
      const latencyMs = Math.round(timers.monotonicMs() - exchange.startedMs)
      const request = { exchange, parsed: read.parsed, envelope, nowMs: timers.nowMs(), latencyMs }
      const blocked = blockedBy(request, verdict.plugin, verdict.answer)
      if (blocked._tag === "Error") return ending.refuse(exchange, blocked.error, blocked.headers)
      const { body, headers, status } = blocked
      const isError = status >= 400
      const code = "plugin_blocked"
      const of = isError
        ? ({ outcome: "failed", status, error: code } as const)
        : ({ outcome: "completed", status, error: null } as const)
      const message = `The plugin '${verdict.plugin}' has blocked the request.`
      if (isError) HookEvents.endedAsError(hooks, exchange, { status, code, message })
      return ending.keep(exchange, { requestedModel, provider: null, model: "", ending: of }, () => {
        if (exchange.reply.isClosed()) return
        exchange.reply.head(status, headers)
        exchange.reply.end(body)
      })
    }
  }
}

/** Hot where plugins listen: exactly one of the last three of the listener is called, maybe before this returns. */
export const openHooked = (services: HookedServices, exchange: Exchange, listener: HookedListener): void => {
  const { hooks, opening, runFork, stop } = services
  const { admitted: letIn, died, opened } = listener
  const guarded = (step: () => void): void => {
    try {
      step()
    } catch (defect) {
      died(Cause.die(defect))
    }
  }
  guarded(() => {
    const run = runOf(exchange)
    const read = opening.read(exchange)
    if ("_tag" in read && read._tag !== "Count") return opened(read)
    known(services, run, read)
    // What a provider has accepted was let in before a restart.
    const isLetIn = exchange.job !== undefined && exchange.job.accepted !== null
    if (!hooks.listens.onRequest || isLetIn) {
      const made = "_tag" in read ? read : opening.enter(read)
      return made instanceof Later ? made.whenKnown((work) => guarded(() => opened(work))) : opened(made)
    }
    const ask = (admitted: Admitted): void => {
      if (admitted instanceof Error) return opened(admitted)
      letIn(admitted)
      runFork(
        Effect.matchCause(askPlugins({ hooks, stop }, run, read.exchange, read.parsed), {
          onFailure: died,
          onSuccess: (verdict) =>
            guarded(() => {
              if (verdict._tag === "Passed") return opened(openedAgain(services, read, verdict.exchange, admitted))
              stopped(services, read, verdict)
              listener.stopped()
            })
        })
      )
    }
    const admitted = "_tag" in read ? null : opening.admit(read)
    if (admitted instanceof Later) admitted.whenKnown((known) => guarded(() => ask(known)))
    else ask(admitted)
  })
}
