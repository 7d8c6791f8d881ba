/**
 * A router strategy of a plugin, in a small sandbox of its own. A decision cannot wait, so it runs on the main thread, with little time and
 * memory and none of the plugin's permissions. While it rests after a failure, `select` throws and the registry's `rules` decides.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ContentPermission, operatorsOwn } from "../../../domain/ContentPermission.ts"
import { Timers } from "../../../platform/Timers.ts"
import {
  resting,
  type RouterStrategy,
  type Selection,
  slowRestMs
} from "../../../plane/routing/auto/RouterStrategies.ts"
import { isObject } from "../../../wire/json/Json.ts"
import { readAnswerJson } from "../../../wire/json/Bounds.ts"
import { type Engine, makeEngine } from "./Engine.ts"
import { crossing } from "./Limits.ts"
import { type LogLine, PluginNotLoaded, type SandboxedCode } from "./Sandbox.ts"
import { type SandboxTexts, sandboxTexts } from "./Texts.ts"
import { makeCpuTime } from "./thread/CpuTime.ts"
import { type Deadline, makeDeadline } from "./thread/Deadline.ts"
import { type HostApi, Refused } from "./thread/HostFunctions.ts"
import { type Inside, makeInside } from "./thread/Inside.ts"

export const selectorLimits = {
  memoryBytes: 24 * 1_048_576,
  /** The main thread's own stack is small, and the engine's frames take more of it than they count. */
  stackBytes: 96 * 1_024,
  selectMs: 20,
  /** Time limit in ms of the evaluation of the plugin's code. */
  loadMs: 100,
  /** Most jobs of a strategy's promises, which nothing waits for. */
  jobs: 64
} as const

/** Factor by which the clock may exceed the processor time, where a busy machine gives little of it. */
const mostOfClock = 5

interface Ready {
  readonly engine: Engine
  readonly inside: Inside
  readonly deadline: Deadline
  readonly description: string
}

const notHere = (): never => {
  throw new Refused("A router strategy has no timers and no calls")
}

const hostOf = (log: (level: number, line: string) => void): HostApi => ({
  log,
  timer: notHere,
  clearTimer: () => {},
  body: notHere,
  done: notHere,
  ask: notHere,
  askNow: notHere,
  drop: () => {},
  blob: notHere,
  environment: () => "{}",
  uuid: () => globalThis.crypto.randomUUID()
})

const levels = ["debug", "info", "warn", "error"] as const

const isText = (value: unknown): value is string => typeof value === "string"

export const openSelector = Effect.fn("Selector.open")(function* (
  code: SandboxedCode,
  name: string,
  log: (permission: ContentPermission, line: LogLine) => void
): Effect.fn.Return<RouterStrategy, PluginNotLoaded, Scope.Scope | Timers> {
  const timers = yield* Timers
  const cpuTime = yield* Effect.acquireRelease(Effect.sync(makeCpuTime), ({ close }) => Effect.sync(close))
  const texts: SandboxTexts = yield* Effect.promise(sandboxTexts)
  let lines = 0

  const write = (level: number, message: string): void => {
    lines += 1
    if (lines <= crossing.linesPerCall) tell(level, message)
  }

  /** Logs a message for the author of the plugin: the decision says only that its strategy failed. */
  const tell = (level: number, message: string): void => {
    // A strategy sees models and numbers, no words of callers.
    log(operatorsOwn, {
      atMs: timers.nowMs(),
      level: levels[level] ?? "info",
      hook: null,
      message: message.slice(0, crossing.lineChars)
    })
  }

  /** The strategy in a new engine; a text: why not. */
  const load = async (): Promise<Ready | string> => {
    const engine = await makeEngine(texts.wasm, selectorLimits)
    const deadline = makeDeadline({ nowMs: timers.monotonicMs, cpuMs: cpuTime.readMs })
    lines = 0
    const inside = makeInside(engine, hostOf(write), {
      inside: texts.inside,
      files: code.files,
      main: code.main,
      permissions: [],
      maxBodyBytes: 0
    })
    engine.interruptWhen(deadline.isOver)
    deadline.begin(selectorLimits.loadMs, mostOfClock * selectorLimits.loadMs)
    const steps = [
      () => inside.call("configure", JSON.stringify(code.config)),
      inside.evaluate,
      () => {
        inside.runJobs(selectorLimits.jobs)
        return inside.defined()
      },
      () => inside.call("describeStrategy", name)
    ]
    let description: string | null = null
    for (const step of steps) {
      const ended = step()
      if (ended === null) return "Its code awaits something that does not come"
      if (ended._tag === "Threw") return ended.message
      if (ended._tag === "Stopped") return `Loading it took more than ${selectorLimits.loadMs} ms`
      if (ended._tag === "Broken") return `The sandbox failed: ${ended.reason}`
      description = ended.text
    }
    if (engine.isExhausted()) return "The sandbox failed: out of memory"
    return description === null ? `It has no strategy ${name}` : { engine, inside, deadline, description }
  }

  const first = yield* Effect.promise(load)
  if (isText(first)) return yield* new PluginNotLoaded({ message: first })
  let ready: Ready | null = first
  let isClosed = false
  let restsUntilMs = 0
  let isLoading = false

  const reload = async (): Promise<void> => {
    const loaded = await load().catch(() => "it could not be loaded")
    isLoading = false
    if (isClosed) return
    if (isText(loaded)) rest(loaded)
    else ready = loaded
  }

  /** Loads it again after its pause, in the background: no decision waits for it. */
  const loadAgain = (): void => {
    if (isClosed || isLoading || timers.monotonicMs() < restsUntilMs) return
    isLoading = true
    void reload()
  }

  const rest = (reason: string): Error => {
    // Its engine is thrown away with all its memory.
    ready = null
    restsUntilMs = timers.monotonicMs() + slowRestMs
    tell(3, `The strategy ${name} rests for ${slowRestMs / 1_000} seconds: ${reason}`)
    return new Error(reason)
  }

  const failed = (reason: string): Error => {
    tell(3, `The strategy ${name} failed: ${reason}`)
    return new Error(reason)
  }

  const select: RouterStrategy["select"] = (pool, context) => {
    if (ready === null) {
      loadAgain()
      throw resting
    }
    const { deadline, engine, inside } = ready
    lines = 0
    deadline.begin(selectorLimits.selectMs, mostOfClock * selectorLimits.selectMs)
    const ended = inside.call("select", name, JSON.stringify(pool), JSON.stringify(context))
    const jobs = ended._tag === "Returned" || ended._tag === "Threw" ? inside.runJobs(selectorLimits.jobs) : ended
    if (engine.isExhausted()) throw rest("it needs more memory than it may have")
    if (jobs !== true || deadline.wasOver()) throw rest(`it took more than ${selectorLimits.selectMs} ms`)
    if (ended._tag !== "Returned") throw failed(ended._tag === "Threw" ? ended.message : "it was stopped")
    const chosen = readAnswerJson(ended.text ?? "")
    const { connectionId, model, provider, reason } = isObject(chosen) ? chosen : {}
    if (!isText(provider) || !isText(model)) throw failed("a selection needs provider and model")
    const selection: Selection = {
      provider,
      model,
      strategy: name,
      reason: isText(reason) ? reason.slice(0, 500) : "",
      candidatesConsidered: pool.length,
      finalScore: 0
    }
    return isText(connectionId) ? { ...selection, connectionId } : selection
  }

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosed = true
      ready = null
    })
  )
  return { name, description: first.description.slice(0, 500), select, boundsItself: true }
})
