/**
 * One plugin and its thread, as the gateway calls it. A few calls are in progress in the thread at once, so that those that wait for something
 * do not hold up others; further ones wait for their turn. Whatever happens to the thread, each call ends within its time.
 */
import type { HostAnswer, SentCall, ThreadStart, FromThread, ToThread } from "./thread/Protocol.ts"
import { type ContentPermission, fromMark } from "../../../contract/domain/ContentPermission.ts"
import type { LifecycleHook } from "../../../subjects/plugins/entity.ts"
import type { Timer, Timers } from "../../../platform/Timers.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import type { HookCall, HookEvent, HookOutcome } from "../hooks/Listener.ts"
import { lifecycleMs, startMs } from "./Limits.ts"
import { definedOf, failedOutcome, lineOf, outcomeOf } from "./Outcomes.ts"
import { answerNow, type PluginThread, startThread } from "./PluginThread.ts"
import type { DefinedPlugin, LogLine } from "./Sandbox.ts"

/** Calls in the thread at once: all of them may use their whole processor time within the time of one. */
export const mostUnderWay = 16

export interface PluginOptions {
  readonly start: ThreadStart
  readonly timers: typeof Timers.Service
  readonly log: (permission: ContentPermission, line: LogLine) => void
  /** Starts a call of the host and gives a function that stops it. */
  readonly ask: (operation: string, args: string, done: (answer: HostAnswer) => void) => () => void
  readonly threadFile?: URL
}

export interface OpenPlugin {
  readonly call: (call: HookCall, done: (outcome: HookOutcome) => void) => () => void
  readonly notify: (events: ReadonlyArray<HookEvent>, done: (failed: number) => void) => () => void
  readonly lifecycle: (hook: LifecycleHook, payload: JsonObject, done: (outcome: HookOutcome) => void) => () => void
  readonly configure: (config: JsonObject) => void
  /** Calls done when the thread runs, or with why it does not. */
  readonly ready: (done: (defined: DefinedPlugin | string) => void) => void
  readonly close: () => Promise<void>
  /** Threads that run now, calls that wait and calls in progress: for tests. */
  readonly counts: () => { readonly threads: number; readonly waiting: number; readonly underWay: number }
}

interface Job {
  readonly send: (id: number) => readonly [ToThread, ReadonlyArray<ArrayBuffer>]
  readonly finish: (message: FromThread | null, reason: string) => void
  timer: Timer
  /** Null: it waits for its turn. */
  sentMs: number | null
  isOver: boolean
}

interface Life {
  readonly thread: PluginThread
  readonly patience: Timer
  readonly underWay: Map<number, Job>
  /** Functions that stop the calls of the host. */
  readonly asks: Map<number, () => void>
  /** Configuration that it was started with. */
  readonly config: string
  isReady: boolean
}

const nothing = (): void => {}

/** Copies the bytes: a part of a larger buffer would send all of that. */
const owned = (bytes: Uint8Array | null): Uint8Array<ArrayBuffer> | null =>
  bytes === null ? null : Uint8Array.from(bytes)

const buffersOf = (bodies: ReadonlyArray<Uint8Array | null>): ReadonlyArray<ArrayBuffer> =>
  bodies.flatMap((body) => (body === null ? [] : [body.buffer as ArrayBuffer]))

/** JSON text has no line breaks of its own. */
const linesOf = (events: ReadonlyArray<HookEvent>): string =>
  events.map(({ hook, permission, text }) => `${permission === null ? "-" : ""}${hook}\n${text}`).join("\n")

class PluginInThread implements OpenPlugin {
  readonly #options: PluginOptions
  readonly #limits: ThreadStart["limits"]
  readonly #waiting: Array<Job> = []
  readonly #readers: Array<(defined: DefinedPlugin | string) => void> = []
  readonly #stopping = new Set<Promise<void>>()
  #config: string
  #life: Life | null = null
  #lastId = 0
  #lastNow = 0
  #isClosed = false

  constructor(options: PluginOptions) {
    this.#options = options
    const { limits } = this.#options.start
    this.#limits = limits
    this.#config = this.#options.start.config
  }

  readonly call: OpenPlugin["call"] = (call, done) =>
    this.#single(() => this.#sentCall(call, this.#limits.timeoutMs), this.#limits.timeoutMs, done)

  readonly lifecycle: OpenPlugin["lifecycle"] = (hook, payload, done) =>
    this.#single(
      () => ({
        hook,
        context: null,
        payload: JSON.stringify(payload),
        body: null,
        timeoutMs: lifecycleMs,
        mayLog: true
      }),
      lifecycleMs,
      done
    )

  readonly notify: OpenPlugin["notify"] = (events, done) =>
    this.#enqueue(
      // The thread bounds each of them; this is for a thread that does nothing any longer.
      this.#limits.timeoutMs * events.length + this.#limits.timeoutMs,
      (id) => {
        const bodies = events.some(({ body }) => body !== null) ? events.map(({ body }) => owned(body)) : null
        const text = linesOf(events)
        return [{ kind: "batch", id, text, bodies, timeoutMs: this.#limits.timeoutMs }, buffersOf(bodies ?? [])]
      },
      (message) => done(message?.kind === "batched" ? Math.min(events.length, message.failed) : events.length)
    )

  readonly configure: OpenPlugin["configure"] = (values) => {
    this.#config = JSON.stringify(values)
    if (this.#life?.isReady === true) this.#life.thread.post({ kind: "configure", config: this.#config }, [])
  }

  readonly ready: OpenPlugin["ready"] = (done) => {
    this.#readers.push(done)
    this.#pump()
  }

  readonly close: OpenPlugin["close"] = async () => {
    this.#isClosed = true
    if (this.#life !== null) this.#end(this.#life, "The plugin is not active any longer")
    this.#failWaiting("The plugin is not active any longer")
    await Promise.all(this.#stopping)
  }

  readonly counts: OpenPlugin["counts"] = () => ({
    threads: (this.#life === null ? 0 : 1) + this.#stopping.size,
    waiting: this.#waiting.length,
    underWay: this.#life?.underWay.size ?? 0
  })

  #finish(job: Job, message: FromThread | null, reason: string): void {
    if (job.isOver) return
    job.isOver = true
    job.finish(message, reason)
  }

  /** Ends the thread with all that is in progress in it; the next call starts another. */
  #end(ended: Life, reason: string): void {
    if (this.#life !== ended) return
    this.#life = null
    ended.patience.cancel()
    for (const stop of ended.asks.values()) stop()
    const stopped = ended.thread.stop().then(
      () => void this.#stopping.delete(stopped),
      () => void this.#stopping.delete(stopped)
    )
    this.#stopping.add(stopped)
    for (const job of ended.underWay.values()) {
      job.timer.cancel()
      this.#finish(job, null, reason)
    }
    ended.underWay.clear()
  }

  #failWaiting(reason: string): void {
    for (const job of this.#waiting.splice(0)) {
      job.timer.cancel()
      this.#finish(job, null, reason)
    }
    for (const read of this.#readers.splice(0)) read(reason)
  }

  #pump(): void {
    if (this.#waiting.length === 0 && this.#readers.length === 0) return
    if (this.#life === null) return this.#begin()
    if (!this.#life.isReady) return
    while (this.#life.underWay.size < mostUnderWay) {
      const job = this.#waiting.shift()
      if (job === undefined) return
      this.#lastId += 1
      job.sentMs = this.#options.timers.monotonicMs()
      this.#life.underWay.set(this.#lastId, job)
      this.#life.thread.post(...job.send(this.#lastId))
    }
  }

  #settled(of: Life, id: number, message: FromThread): void {
    const job = of.underWay.get(id)
    if (job === undefined) return
    of.underWay.delete(id)
    job.timer.cancel()
    this.#finish(job, message, "")
    this.#pump()
  }

  #receive(of: Life, message: FromThread): void {
    if (this.#life !== of) return
    switch (message.kind) {
      case "ready": {
        const defined = definedOf(message.defined)
        of.patience.cancel()
        if (defined === null) {
          this.#end(of, "it was not loaded")
          return this.#failWaiting("What it was defined with cannot be read")
        }
        of.isReady = true
        // It was changed since the thread was started.
        if (this.#config !== of.config) of.thread.post({ kind: "configure", config: this.#config }, [])
        for (const read of this.#readers.splice(0)) read(defined)
        return this.#pump()
      }
      case "refused":
        this.#end(of, "it was not loaded")
        return this.#failWaiting(message.message)
      case "outcome":
      case "batched":
        return this.#settled(of, message.id, message)
      case "lines":
        for (const line of message.lines) {
          const permission = fromMark(line.mayKeep)
          if (permission !== null) this.#options.log(permission, lineOf(line, this.#options.timers.nowMs()))
        }
        return
      case "ask": {
        const { ask: id } = message
        // The answer may come at once.
        of.asks.set(id, nothing)
        const stop = this.#options.ask(message.operation, message.args, (answer) => {
          if (!of.asks.delete(id) || this.#life !== of) return
          of.thread.post({ kind: "answer", ask: id, answer }, [])
        })
        if (of.asks.has(id)) of.asks.set(id, stop)
        return
      }
      case "askNow": {
        // Negative, so that none of the plugin's own has its number.
        this.#lastNow -= 1
        const id = this.#lastNow
        const { port, signal } = message
        of.asks.set(id, nothing)
        const stop = this.#options.ask(message.operation, message.args, (answer) => {
          of.asks.delete(id)
          answerNow(port, signal, answer)
        })
        if (of.asks.has(id)) of.asks.set(id, stop)
        return
      }
      case "drop": {
        of.asks.get(message.ask)?.()
        of.asks.delete(message.ask)
        return
      }
      case "broken":
        this.#end(of, `The sandbox was ended: ${message.reason}`)
        return this.#pump()
    }
  }

  #begin(): void {
    if (this.#isClosed) return this.#failWaiting("The plugin is not active any longer")
    const begun: { life: Life | null } = { life: null }
    const thread = startThread(
      { ...this.#options.start, config: this.#config },
      this.#options.timers,
      {
        onMessage: (message) => {
          if (begun.life !== null) this.#receive(begun.life, message)
        },
        onDeath: (reason) => {
          if (begun.life === null || this.#life !== begun.life) return
          const wasReady = begun.life.isReady
          this.#end(begun.life, `The sandbox was ended: ${reason}`)
          // A thread that dies before it is ready would die again.
          if (wasReady) this.#pump()
          else this.#failWaiting(`The sandbox could not start: ${reason}`)
        }
      },
      this.#options.threadFile
    )
    const patience = this.#options.timers.after(startMs, () => {
      if (begun.life === null || this.#life !== begun.life) return
      this.#end(begun.life, "it did not start")
      this.#failWaiting(`It was not loaded within ${startMs} ms`)
    })
    begun.life = { thread, patience, underWay: new Map(), asks: new Map(), config: this.#config, isReady: false }
    this.#life = begun.life
  }

  #enqueue(
    timeoutMs: number,
    send: Job["send"],
    finished: (message: FromThread | null, reason: string) => void
  ): () => void {
    if (this.#isClosed) {
      finished(null, "The plugin is not active any longer")
      return () => {}
    }
    if (this.#waiting.length >= this.#limits.waiting) {
      finished(null, `More than ${this.#limits.waiting} calls wait already`)
      return () => {}
    }
    const due = (): void => {
      const place = this.#waiting.indexOf(job)
      const late = `It took longer than ${timeoutMs} ms`
      if (place >= 0) {
        this.#waiting.splice(place, 1)
        return this.#finish(job, null, `${late}: its turn did not come`)
      }
      this.#finish(job, null, late)
      // The time it has waited for its turn is not the fault of what the thread does now.
      const leftMs = (job.sentMs ?? 0) + timeoutMs - this.#options.timers.monotonicMs()
      if (leftMs > 1) {
        job.timer = this.#options.timers.after(leftMs, due)
        return
      }
      if (this.#life !== null)
        this.#end(this.#life, `The sandbox was ended, because a call took longer than ${timeoutMs} ms`)
      this.#pump()
    }
    const job: Job = {
      send,
      finish: finished,
      timer: this.#options.timers.after(timeoutMs, due),
      sentMs: null,
      isOver: false
    }
    this.#waiting.push(job)
    this.#pump()
    return () => {
      // What is in progress goes on: its thread is still bound by its time.
      job.isOver = true
      const place = this.#waiting.indexOf(job)
      if (place < 0) return
      this.#waiting.splice(place, 1)
      job.timer.cancel()
    }
  }

  #sentCall({ body, context, payload, permission }: HookCall, timeoutMs: number): SentCall {
    return {
      hook: context.hook,
      context: JSON.stringify(context),
      payload: JSON.stringify(payload),
      body: owned(body),
      timeoutMs,
      mayLog: permission !== null
    }
  }

  #single(make: () => SentCall, timeoutMs: number, done: (outcome: HookOutcome) => void): () => void {
    const begunMs = this.#options.timers.monotonicMs()
    return this.#enqueue(
      timeoutMs,
      (id) => {
        const call = make()
        return [{ kind: "call", id, call }, buffersOf([call.body])]
      },
      (message, reason) => {
        const ms = this.#options.timers.monotonicMs() - begunMs
        done(
          message?.kind === "outcome"
            ? outcomeOf(message, ms, this.#options.start.maxBodyBytes)
            : failedOutcome(reason, ms)
        )
      }
    )
  }
}

export const makeOpenPlugin = (options: PluginOptions): OpenPlugin => new PluginInThread(options)
