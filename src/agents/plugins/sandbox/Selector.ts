/**
 * A router strategy of a plugin, in a small sandbox of its own. A decision cannot wait, so it runs on the main thread, with little time and
 * memory and none of the plugin's permissions. While it rests after a failure, `select` throws and the registry's `rules` decides.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ContentPermission, operatorsOwn } from "../../../contract/domain/ContentPermission.ts"
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
const errorLevel = 3

const isText = (value: unknown): value is string => typeof value === "string"

/** Reads what ended a step of loading; null: it ended well. */
const loadProblem = (ended: ReturnType<Inside["defined"]>): string | null => {
  if (ended === null) return "Its code awaits something that does not come"
  switch (ended._tag) {
    case "Threw":
      return ended.message
    case "Stopped":
      return `Loading it took more than ${selectorLimits.loadMs} ms`
    case "Broken":
      return `The sandbox failed: ${ended.reason}`
    case "Returned":
      return null
  }
}

/** Reads the selection of a strategy; null: it is none. */
const selectionIn = (text: string, strategy: string, candidatesConsidered: number): Selection | null => {
  const chosen = readAnswerJson(text)
  const { connectionId, model, provider, reason } = isObject(chosen) ? chosen : {}
  if (!isText(provider) || !isText(model)) return null
  const selection: Selection = {
    provider,
    model,
    strategy,
    reason: isText(reason) ? reason.slice(0, 500) : "",
    candidatesConsidered,
    finalScore: 0
  }
  return isText(connectionId) ? { ...selection, connectionId } : selection
}

interface SelectorServices {
  readonly timers: typeof Timers.Service
  readonly cpuMs: () => number | null
  readonly texts: SandboxTexts
  readonly log: (permission: ContentPermission, line: LogLine) => void
}

class Selector {
  readonly #code: SandboxedCode
  readonly #name: string
  readonly #services: SelectorServices
  #lines = 0
  #ready: Ready | null = null
  #isClosed = false
  #restsUntilMs = 0
  #isLoading = false

  constructor(code: SandboxedCode, name: string, services: SelectorServices) {
    this.#code = code
    this.#name = name
    this.#services = services
  }

  /** Loads the strategy, and returns its description or why it could not be loaded. */
  async open(): Promise<{ readonly description: string } | string> {
    const loaded = await this.#load()
    if (!isText(loaded)) this.#ready = loaded
    return loaded
  }

  readonly select: RouterStrategy["select"] = (pool, context) => {
    if (this.#ready === null) {
      this.#loadAgain()
      throw resting
    }
    const { deadline, engine, inside } = this.#ready
    this.#lines = 0
    deadline.begin(selectorLimits.selectMs, mostOfClock * selectorLimits.selectMs)
    const ended = inside.call("select", this.#name, JSON.stringify(pool), JSON.stringify(context))
    const jobs = ended._tag === "Returned" || ended._tag === "Threw" ? inside.runJobs(selectorLimits.jobs) : ended
    if (engine.isExhausted()) throw this.#rest("it needs more memory than it may have")
    if (jobs !== true || deadline.wasOver()) throw this.#rest(`it took more than ${selectorLimits.selectMs} ms`)
    if (ended._tag !== "Returned") throw this.#failed(ended._tag === "Threw" ? ended.message : "it was stopped")
    const selection = selectionIn(ended.text ?? "", this.#name, pool.length)
    if (selection === null) throw this.#failed("a selection needs provider and model")
    return selection
  }

  close(): void {
    this.#isClosed = true
    this.#ready = null
  }

  /** The strategy in a new engine; a text: why not. */
  async #load(): Promise<Ready | string> {
    const { cpuMs, texts, timers } = this.#services
    const { config, files, main } = this.#code
    const engine = await makeEngine(texts.wasm, selectorLimits)
    const deadline = makeDeadline({ nowMs: timers.monotonicMs, cpuMs })
    this.#lines = 0
    const host = hostOf((level, message) => this.#write(level, message))
    const inside = makeInside(engine, host, { inside: texts.inside, files, main, permissions: [], maxBodyBytes: 0 })
    engine.interruptWhen(deadline.isOver)
    deadline.begin(selectorLimits.loadMs, mostOfClock * selectorLimits.loadMs)
    const steps = [
      () => inside.call("configure", JSON.stringify(config)),
      inside.evaluate,
      () => {
        inside.runJobs(selectorLimits.jobs)
        return inside.defined()
      },
      () => inside.call("describeStrategy", this.#name)
    ]
    let description: string | null = null
    for (const step of steps) {
      const ended = step()
      const problem = loadProblem(ended)
      if (problem !== null) return problem
      description = ended?._tag === "Returned" ? ended.text : null
    }
    if (engine.isExhausted()) return "The sandbox failed: out of memory"
    return description === null ? `It has no strategy ${this.#name}` : { engine, inside, deadline, description }
  }

  /** Loads it again after its pause, in the background: no decision waits for it. */
  #loadAgain(): void {
    if (this.#isClosed || this.#isLoading || this.#services.timers.monotonicMs() < this.#restsUntilMs) return
    this.#isLoading = true
    void this.#reload()
  }

  async #reload(): Promise<void> {
    const loaded = await this.#load().catch(() => "it could not be loaded")
    this.#isLoading = false
    if (this.#isClosed) return
    if (isText(loaded)) this.#rest(loaded)
    else this.#ready = loaded
  }

  #rest(reason: string): Error {
    // Its engine is thrown away with all its memory.
    this.#ready = null
    this.#restsUntilMs = this.#services.timers.monotonicMs() + slowRestMs
    this.#tell(errorLevel, `The strategy ${this.#name} rests for ${slowRestMs / 1_000} seconds: ${reason}`)
    return new Error(reason)
  }

  #failed(reason: string): Error {
    this.#tell(errorLevel, `The strategy ${this.#name} failed: ${reason}`)
    return new Error(reason)
  }

  #write(level: number, message: string): void {
    this.#lines += 1
    if (this.#lines <= crossing.linesPerCall) this.#tell(level, message)
  }

  /** Logs a message for the author of the plugin: the decision says only that its strategy failed. */
  #tell(level: number, message: string): void {
    // A strategy sees models and numbers, no words of callers.
    this.#services.log(operatorsOwn, {
      atMs: this.#services.timers.nowMs(),
      level: levels[level] ?? "info",
      hook: null,
      message: message.slice(0, crossing.lineChars)
    })
  }
}

export const openSelector = Effect.fn("Selector.open")(function* (
  code: SandboxedCode,
  name: string,
  log: (permission: ContentPermission, line: LogLine) => void
): Effect.fn.Return<RouterStrategy, PluginNotLoaded, Scope.Scope | Timers> {
  const timers = yield* Timers
  const cpuTime = yield* Effect.acquireRelease(Effect.sync(makeCpuTime), ({ close }) => Effect.sync(close))
  const texts: SandboxTexts = yield* Effect.promise(sandboxTexts)
  const selector = new Selector(code, name, { timers, cpuMs: cpuTime.readMs, texts, log })
  const opened = yield* Effect.promise(() => selector.open())
  if (isText(opened)) return yield* new PluginNotLoaded({ message: opened })
  yield* Effect.addFinalizer(() => Effect.sync(() => selector.close()))
  return { name, description: opened.description.slice(0, 500), select: selector.select, boundsItself: true }
})
