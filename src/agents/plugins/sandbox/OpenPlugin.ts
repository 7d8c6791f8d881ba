/**
 * One plugin and its thread, as the gateway calls it. A few calls are in progress in the thread at once, so that those that wait for something
 * do not hold up others; further ones wait for their turn. Whatever happens to the thread, each call ends within its time.
 */
import type { HostAnswer, SentCall, ThreadStart, FromThread, ToThread } from "./thread/Protocol.ts"
import { type ContentPermission, fromMark } from "../../../domain/ContentPermission.ts"
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

export const makeOpenPlugin = ({ ask, log, start, threadFile, timers }: PluginOptions): OpenPlugin => {
  const { limits } = start
  const waiting: Array<Job> = []
  const readers: Array<(defined: DefinedPlugin | string) => void> = []
  const stopping = new Set<Promise<void>>()
  let config = start.config
  let life: Life | null = null
  let lastId = 0
  let lastNow = 0
  let isClosed = false

  const finish = (job: Job, message: FromThread | null, reason: string): void => {
    if (job.isOver) return
    job.isOver = true
    job.finish(message, reason)
  }

  /** Ends the thread with all that is in progress in it; the next call starts another. */
  const end = (ended: Life, reason: string): void => {
    if (life !== ended) return
    life = null
    ended.patience.cancel()
    for (const stop of ended.asks.values()) stop()
    const stopped = ended.thread.stop().then(
      () => void stopping.delete(stopped),
      () => void stopping.delete(stopped)
    )
    stopping.add(stopped)
    for (const job of ended.underWay.values()) {
      job.timer.cancel()
      finish(job, null, reason)
    }
    ended.underWay.clear()
  }

  const failWaiting = (reason: string): void => {
    for (const job of waiting.splice(0)) {
      job.timer.cancel()
      finish(job, null, reason)
    }
    for (const read of readers.splice(0)) read(reason)
  }

  const pump = (): void => {
    if (waiting.length === 0 && readers.length === 0) return
    if (life === null) return begin()
    if (!life.isReady) return
    while (life.underWay.size < mostUnderWay) {
      const job = waiting.shift()
      if (job === undefined) return
      lastId += 1
      job.sentMs = timers.monotonicMs()
      life.underWay.set(lastId, job)
      life.thread.post(...job.send(lastId))
    }
  }

  const settled = (of: Life, id: number, message: FromThread): void => {
    const job = of.underWay.get(id)
    if (job === undefined) return
    of.underWay.delete(id)
    job.timer.cancel()
    finish(job, message, "")
    pump()
  }

  const receive = (of: Life, message: FromThread): void => {
    if (life !== of) return
    switch (message.kind) {
      case "ready": {
        const defined = definedOf(message.defined)
        of.patience.cancel()
        if (defined === null) {
          end(of, "it was not loaded")
          return failWaiting("What it was defined with cannot be read")
        }
        of.isReady = true
        // It was changed since the thread was started.
        if (config !== of.config) of.thread.post({ kind: "configure", config }, [])
        for (const read of readers.splice(0)) read(defined)
        return pump()
      }
      case "refused":
        end(of, "it was not loaded")
        return failWaiting(message.message)
      case "outcome":
      case "batched":
        return settled(of, message.id, message)
      case "lines":
        for (const line of message.lines) {
          const permission = fromMark(line.mayKeep)
          if (permission !== null) log(permission, lineOf(line, timers.nowMs()))
        }
        return
      case "ask": {
        const { ask: id } = message
        // The answer may come at once.
        of.asks.set(id, nothing)
        const stop = ask(message.operation, message.args, (answer) => {
          if (!of.asks.delete(id) || life !== of) return
          of.thread.post({ kind: "answer", ask: id, answer }, [])
        })
        if (of.asks.has(id)) of.asks.set(id, stop)
        return
      }
      case "askNow": {
        // Negative, so that none of the plugin's own has its number.
        lastNow -= 1
        const id = lastNow
        const { port, signal } = message
        of.asks.set(id, nothing)
        const stop = ask(message.operation, message.args, (answer) => {
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
        end(of, `The sandbox was ended: ${message.reason}`)
        return pump()
    }
  }

  const begin = (): void => {
    if (isClosed) return failWaiting("The plugin is not active any longer")
    const begun: { life: Life | null } = { life: null }
    const thread = startThread(
      { ...start, config },
      timers,
      {
        onMessage: (message) => {
          if (begun.life !== null) receive(begun.life, message)
        },
        onDeath: (reason) => {
          if (begun.life === null || life !== begun.life) return
          const wasReady = begun.life.isReady
          end(begun.life, `The sandbox was ended: ${reason}`)
          // A thread that dies before it is ready would die again.
          if (wasReady) pump()
          else failWaiting(`The sandbox could not start: ${reason}`)
        }
      },
      threadFile
    )
    const patience = timers.after(startMs, () => {
      if (begun.life === null || life !== begun.life) return
      end(begun.life, "it did not start")
      failWaiting(`It was not loaded within ${startMs} ms`)
    })
    begun.life = { thread, patience, underWay: new Map(), asks: new Map(), config, isReady: false }
    life = begun.life
  }

  const enqueue = (
    timeoutMs: number,
    send: Job["send"],
    finished: (message: FromThread | null, reason: string) => void
  ): (() => void) => {
    if (isClosed) {
      finished(null, "The plugin is not active any longer")
      return () => {}
    }
    if (waiting.length >= limits.waiting) {
      finished(null, `More than ${limits.waiting} calls wait already`)
      return () => {}
    }
    const due = (): void => {
      const place = waiting.indexOf(job)
      const late = `It took longer than ${timeoutMs} ms`
      if (place >= 0) {
        waiting.splice(place, 1)
        return finish(job, null, `${late}: its turn did not come`)
      }
      finish(job, null, late)
      // The time it has waited for its turn is not the fault of what the thread does now.
      const leftMs = (job.sentMs ?? 0) + timeoutMs - timers.monotonicMs()
      if (leftMs > 1) {
        job.timer = timers.after(leftMs, due)
        return
      }
      if (life !== null) end(life, `The sandbox was ended, because a call took longer than ${timeoutMs} ms`)
      pump()
    }
    const job: Job = { send, finish: finished, timer: timers.after(timeoutMs, due), sentMs: null, isOver: false }
    waiting.push(job)
    pump()
    return () => {
      // What is in progress goes on: its thread is still bound by its time.
      job.isOver = true
      const place = waiting.indexOf(job)
      if (place < 0) return
      waiting.splice(place, 1)
      job.timer.cancel()
    }
  }

  const sentCall = ({ body, context, payload, permission }: HookCall, timeoutMs: number): SentCall => ({
    hook: context.hook,
    context: JSON.stringify(context),
    payload: JSON.stringify(payload),
    body: owned(body),
    timeoutMs,
    mayLog: permission !== null
  })

  const single = (make: () => SentCall, timeoutMs: number, done: (outcome: HookOutcome) => void): (() => void) => {
    const begunMs = timers.monotonicMs()
    return enqueue(
      timeoutMs,
      (id) => {
        const call = make()
        return [{ kind: "call", id, call }, buffersOf([call.body])]
      },
      (message, reason) => {
        const ms = timers.monotonicMs() - begunMs
        done(message?.kind === "outcome" ? outcomeOf(message, ms, start.maxBodyBytes) : failedOutcome(reason, ms))
      }
    )
  }

  return {
    call: (call, done) => single(() => sentCall(call, limits.timeoutMs), limits.timeoutMs, done),
    lifecycle: (hook, payload, done) =>
      single(
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
      ),
    notify: (events, done) =>
      enqueue(
        // The thread bounds each of them; this is for a thread that does nothing any longer.
        limits.timeoutMs * events.length + limits.timeoutMs,
        (id) => {
          const bodies = events.some(({ body }) => body !== null) ? events.map(({ body }) => owned(body)) : null
          const text = linesOf(events)
          return [{ kind: "batch", id, text, bodies, timeoutMs: limits.timeoutMs }, buffersOf(bodies ?? [])]
        },
        (message) => done(message?.kind === "batched" ? Math.min(events.length, message.failed) : events.length)
      ),
    configure: (values) => {
      config = JSON.stringify(values)
      if (life?.isReady === true) life.thread.post({ kind: "configure", config }, [])
    },
    ready: (done) => {
      readers.push(done)
      pump()
    },
    close: async () => {
      isClosed = true
      if (life !== null) end(life, "The plugin is not active any longer")
      failWaiting("The plugin is not active any longer")
      await Promise.all(stopping)
    },
    counts: () => ({
      threads: (life === null ? 0 : 1) + stopping.size,
      waiting: waiting.length,
      underWay: life?.underWay.size ?? 0
    })
  }
}
