/**
 * A plugin in its engine, and the calls that are in progress in it. Code of the plugin runs in turns: each begins with one message (a call,
 * an answer of the gateway, a timer) and ends when no job is left, so that its processor time belongs to one call. Nothing runs between
 * calls: what a call has started ends with it.
 */
import type { PluginHook } from "../../../../subjects/plugins/entity.ts"
import type { Timer, Timers } from "../../../../platform/Timers.ts"
import { isObject } from "../../../../wire/json/Json.ts"
import { readAnswerJson, Unreadable } from "../../../../wire/json/Bounds.ts"
import { makeEngine } from "../Engine.ts"
import { crossing, gracefulJobs, gracefulMs, loadCpuMs, startMs } from "../Limits.ts"
import { makeDeadline } from "./Deadline.ts"
import { type HostApi, Refused } from "./HostFunctions.ts"
import { type Ended, makeInside } from "./Inside.ts"
import type { FromThread, HostAnswer, SentCall, ThreadLine, ThreadStart, ToThread } from "./Protocol.ts"

export interface MachinePort {
  readonly post: (message: FromThread, transfer: ReadonlyArray<ArrayBuffer>) => void
  /** Null: not within the time. */
  readonly askNow: (operation: string, args: string, withinMs: number) => HostAnswer | null
  readonly uuid: () => string
  readonly cpuMs: () => number | null
}

interface Outcome {
  readonly tag: "unchanged" | "changed" | "blocked" | "failed"
  readonly body: Uint8Array | null
  readonly answer: string | null
  readonly reason: string | null
  readonly metadata: string | null
}

/** A call that has begun. */
interface Running {
  readonly id: number
  readonly hook: PluginHook | null
  readonly mayLog: boolean
  readonly body: Uint8Array | null
  readonly timeoutMs: number
  readonly endsAtMs: number
  readonly timers: Map<number, Timer>
  readonly asks: Set<number>
  readonly blobs: Map<number, Uint8Array>
  readonly done: (outcome: Outcome) => void
  leftMs: number
  blobBytes: number
  asked: number
  lines: number
  outcome: Outcome | null
}

const failedOutcome = (reason: string): Outcome => ({
  tag: "failed",
  body: null,
  answer: null,
  reason: reason.slice(0, crossing.reasonChars),
  metadata: null
})

const tags = ["unchanged", "changed", "blocked", "failed"] as const

const jobsAtOnce = 64

/** Bodies are parsed inside, where they take several times their size. */
const bodyShare = 6

export const makeMachine = async (
  start: ThreadStart,
  port: MachinePort,
  timers: Pick<typeof Timers.Service, "after" | "monotonicMs">
): Promise<((message: ToThread) => void) | null> => {
  const { limits } = start
  const engine = await makeEngine(start.wasm, limits)
  const deadline = makeDeadline({ nowMs: timers.monotonicMs, cpuMs: port.cpuMs })

  const running = new Map<number, Running>()
  const askers = new Map<number, Running>()
  const lines: Array<ThreadLine> = []
  /** True when it has got text that may not be kept: its output outside of any call may be that. */
  let hasHeard = false
  let current: Running | null = null
  let isBroken = false
  let lastCall = 0
  let lastBlob = 0

  const post = (message: FromThread, transfer: ReadonlyArray<ArrayBuffer> = []): void => port.post(message, transfer)

  const encoder = new TextEncoder()

  /** The text of a changed body, checked: what leaves the sandbox is JSON of an object within the usual limits. */
  const bodyOutcome = (body: string, metadata: string | null): Outcome => {
    const value = readAnswerJson(body)
    if (value instanceof Unreadable) return failedOutcome(value.message)
    if (!isObject(value)) return failedOutcome("The body must be an object")
    const bytes = encoder.encode(body)
    if (bytes.byteLength > start.maxBodyBytes)
      return failedOutcome(`The body has more than ${start.maxBodyBytes} bytes, the limit`)
    return { tag: "changed", body: bytes, answer: null, reason: null, metadata }
  }

  const outcomeOf = (kind: number, body: string | null, answer: string | null, metadata: string | null): Outcome => {
    const tag = tags[kind] ?? "failed"
    if (tag === "failed") return failedOutcome(body ?? "it failed")
    if (tag === "changed") return bodyOutcome(body ?? "", metadata)
    return { tag, body: null, answer, reason: null, metadata }
  }

  const owner = (): Running => {
    if (current === null || current.outcome !== null) throw new Refused("The call that this belongs to is over")
    return current
  }

  const api: HostApi = {
    log: (level, message) => {
      if (current !== null) {
        current.lines += 1
        if (current.lines > crossing.linesPerCall) return
        if (current.lines === crossing.linesPerCall) message = "Further lines of this call are left out."
      }
      lines.push({
        level,
        hook: current?.hook ?? null,
        message: message.slice(0, crossing.lineChars),
        mayKeep: current?.mayLog ?? !hasHeard
      })
    },
    timer: (id, delayMs) => {
      const call = owner()
      if (call.timers.size >= crossing.timersPerCall)
        throw new Refused(`More than ${crossing.timersPerCall} timers wait`)
      const due = (): void => {
        call.timers.delete(id)
        turn(call, () => inside.call("fire", id))
      }
      call.timers.set(id, timers.after(Math.min(delayMs, 2_147_483_647), due))
    },
    clearTimer: (id) => {
      current?.timers.get(id)?.cancel()
      current?.timers.delete(id)
    },
    body: (id) => {
      const body = running.get(id)?.body
      if (body === null || body === undefined) throw new Refused("The call is over, and its body with it")
      if (body.byteLength > limits.memoryBytes / bodyShare) {
        throw new Refused(`The body has ${body.byteLength} bytes, more than the memory of a plugin can hold`)
      }
      return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8")
    },
    done: (id, kind, body, answer, metadata) => {
      const call = running.get(id)
      if (call !== undefined) call.outcome ??= outcomeOf(kind, body, answer, metadata)
    },
    ask: (id, operation, args) => {
      const call = owner()
      if (askers.size >= crossing.asksAtOnce || call.asked >= crossing.asksPerCall) {
        throw new Refused(`More than ${crossing.asksAtOnce} calls at once, or ${crossing.asksPerCall} in one call`)
      }
      call.asked += 1
      call.asks.add(id)
      askers.set(id, call)
      post({ kind: "ask", ask: id, operation, args })
    },
    askNow: (operation, args) => {
      const call = owner()
      call.asked += 1
      if (call.asked > crossing.asksPerCall) throw new Refused(`More than ${crossing.asksPerCall} calls in one call`)
      const begunMs = timers.monotonicMs()
      const answer = port.askNow(operation, args, Math.max(1, call.endsAtMs - begunMs))
      deadline.extend(timers.monotonicMs() - begunMs)
      if (answer === null) throw new Refused("It took too long")
      return answer.isDone ? `{"done":${answer.text}}` : `{"failure":${answer.text}}`
    },
    drop: (id) => {
      const call = askers.get(id)
      if (call === undefined) return
      askers.delete(id)
      call.asks.delete(id)
      post({ kind: "drop", ask: id })
    },
    blob: (id) => {
      const call = owner()
      const bytes = call.blobs.get(id)
      if (bytes === undefined) throw new Refused("The body is gone")
      call.blobs.delete(id)
      call.blobBytes -= bytes.byteLength
      return bytes
    },
    environment: () => (start.permissions.includes("env") ? start.environment : "{}"),
    uuid: port.uuid
  }

  const flushLines = (): void => {
    if (lines.length > 0) post({ kind: "lines", lines: lines.splice(0) })
  }

  /** Ends a call with everything it has started. */
  const close = (call: Running, outcome: Outcome): void => {
    if (!running.delete(call.id)) return
    call.outcome = outcome
    // The time of the call may be over, but this is the gateway's own.
    if (call.timers.size + call.asks.size > 0) deadline.begin(gracefulMs, gracefulMs)
    for (const [id, timer] of call.timers) {
      timer.cancel()
      inside.call("forgetTimer", id)
    }
    for (const id of call.asks) {
      askers.delete(id)
      post({ kind: "drop", ask: id })
      inside.call("forgetAsk", id)
    }
    call.timers.clear()
    call.asks.clear()
    call.blobs.clear()
    call.done(outcome)
  }

  const breakDown = (reason: string): void => {
    if (isBroken) return
    isBroken = true
    for (const call of running.values()) for (const timer of call.timers.values()) timer.cancel()
    flushLines()
    post({ kind: "broken", reason })
  }

  /** Runs jobs until none is left; what went wrong, or null. */
  const runJobs = (): Ended | null => {
    for (;;) {
      const left = inside.runJobs(jobsAtOnce)
      if (left === true) return null
      if (left !== false) return left
      if (deadline.isOver()) return { _tag: "Stopped" }
    }
  }

  /** Lets what was interrupted notice it. False: there is no end of jobs. */
  const settleJobs = (): boolean => {
    deadline.begin(gracefulMs, gracefulMs)
    for (let jobs = 0; jobs < gracefulJobs; jobs += jobsAtOnce) if (inside.runJobs(jobsAtOnce) === true) return true
    return false
  }

  const tooMuch = (call: Running): string =>
    call.endsAtMs <= timers.monotonicMs()
      ? `It took longer than ${call.timeoutMs} ms`
      : `It took more than ${limits.cpuMs} ms of processor time`

  const turn = (call: Running, run: () => Ended): void => {
    if (isBroken || !running.has(call.id)) return
    current = call
    deadline.begin(call.leftMs, Math.max(1, call.endsAtMs - timers.monotonicMs()))
    const ended = run()
    const problem = ended._tag === "Returned" || ended._tag === "Threw" ? runJobs() : ended
    call.leftMs -= deadline.end()
    const isStopped = problem?._tag === "Stopped" || deadline.wasOver()
    const isSettled = !isStopped || settleJobs()
    current = null
    const reason =
      problem?._tag === "Broken"
        ? problem.reason
        : engine.isExhausted()
          ? isStopped
            ? "endless"
            : "out of memory"
          : isSettled
            ? null
            : "endless"
    if (isStopped && call.outcome === null) call.outcome = failedOutcome(tooMuch(call))
    if (reason !== null)
      call.outcome = failedOutcome(reason === "endless" ? tooMuch(call) : `The sandbox failed: ${reason}`)
    else if (ended._tag === "Threw" && call.outcome === null && call.asks.size + call.timers.size === 0) {
      lines.push({
        level: 3,
        hook: call.hook,
        message: ended.message.slice(0, crossing.lineChars),
        mayKeep: call.mayLog
      })
    }
    if (call.outcome === null && running.size === 1 && call.asks.size === 0 && call.timers.size === 0) {
      call.outcome = failedOutcome("Its promise is never settled: nothing is left that could do it")
    }
    flushLines()
    if (call.outcome !== null) close(call, call.outcome)
    if (reason !== null) breakDown(reason === "endless" ? "a call did not end" : reason)
  }

  const begin = (call: SentCall | null, cpuMs: number, wallMs: number, done: (outcome: Outcome) => void): Running => {
    lastCall += 1
    const begun: Running = {
      id: lastCall,
      hook: call?.hook ?? null,
      mayLog: call?.mayLog ?? true,
      body: call?.body ?? null,
      timeoutMs: wallMs,
      endsAtMs: timers.monotonicMs() + wallMs,
      timers: new Map(),
      asks: new Set(),
      blobs: new Map(),
      done,
      leftMs: cpuMs,
      blobBytes: 0,
      asked: 0,
      lines: 0,
      outcome: null
    }
    running.set(begun.id, begun)
    return begun
  }

  const invoke = (call: SentCall, done: (outcome: Outcome) => void): Running => {
    hasHeard ||= !call.mayLog
    const begun = begin(call, limits.cpuMs, call.timeoutMs, done)
    turn(begun, () => inside.call("invoke", begun.id, call.hook, call.context, call.payload, call.body !== null))
    return begun
  }

  const inside = makeInside(engine, api, start)
  // Not before: the scripts are the gateway's own.
  engine.interruptWhen(deadline.isOver)

  const batch = ({ bodies, id, text, timeoutMs }: Extract<ToThread, { readonly kind: "batch" }>): void => {
    const texts = text.split("\n")
    let failed = 0
    const next = (at: number): void => {
      const [marked = "", context = null, payload] = texts.slice(at * 3, at * 3 + 3)
      const mayLog = !marked.startsWith("-")
      const hook = mayLog ? marked : marked.slice(1)
      if (payload === undefined) return post({ kind: "batched", id, failed })
      const call: SentCall = {
        hook: hook as PluginHook,
        context,
        payload,
        body: bodies?.[at] ?? null,
        timeoutMs,
        mayLog
      }
      let isOver = false
      const late: { timer: Timer | null } = { timer: null }
      const begun = invoke(call, (outcome) => {
        isOver = true
        late.timer?.cancel()
        if (outcome.tag === "failed") {
          failed += 1
          post({
            kind: "lines",
            lines: [{ level: 3, hook: call.hook, message: outcome.reason ?? "", mayKeep: call.mayLog }]
          })
        }
        // Not from within: a long batch of short calls would pile up.
        if (at % 64 === 63) timers.after(0, () => next(at + 1))
        else next(at + 1)
      })
      if (!isOver) {
        late.timer = timers.after(call.timeoutMs, () =>
          close(begun, failedOutcome(`It took longer than ${call.timeoutMs} ms`))
        )
      }
    }
    next(0)
  }

  const answered = (id: number, answer: HostAnswer): void => {
    const call = askers.get(id)
    if (call === undefined) return
    askers.delete(id)
    call.asks.delete(id)
    let { text } = answer
    if (answer.blob !== null) {
      lastBlob += 1
      call.blobs.set(lastBlob, answer.blob)
      call.blobBytes += answer.blob.byteLength
      text = `${text.slice(0, -1)}${text === "{}" ? "" : ","}"blob":${lastBlob}}`
    }
    const isTooMuch = call.blobBytes > crossing.blobBytesPerCall
    turn(call, () =>
      isTooMuch
        ? inside.call("settle", id, false, '{"type":"RangeError","code":null,"message":"Too many bodies are not read"}')
        : inside.call("settle", id, answer.isDone, text)
    )
  }

  const receive = (message: ToThread): void => {
    if (isBroken) return
    switch (message.kind) {
      case "call":
        invoke(message.call, (outcome) =>
          post(
            { kind: "outcome", id: message.id, ...outcome },
            outcome.body === null ? [] : [outcome.body.buffer as ArrayBuffer]
          )
        )
        return
      case "batch":
        return batch(message)
      case "configure":
        deadline.begin(limits.cpuMs, limits.timeoutMs)
        inside.call("configure", message.config)
        return
      case "answer":
        return answered(message.ask, message.answer)
    }
  }

  return new Promise((ready) => {
    let isOver = false
    const refuse = (message: string): void => {
      if (isOver) return
      isOver = true
      isBroken = true
      flushLines()
      post({ kind: "refused", message: message.slice(0, crossing.reasonChars) })
      ready(null)
    }
    const load = begin(null, loadCpuMs, startMs, (outcome) => refuse(outcome.reason ?? "it could not be loaded"))
    const seen = (ended: Ended): void => {
      switch (ended._tag) {
        case "Threw":
          return refuse(ended.message)
        case "Stopped":
          return refuse(`Loading it took more than ${loadCpuMs} ms of processor time`)
        case "Broken":
          return refuse(`The sandbox failed: ${ended.reason}`)
        case "Returned":
      }
    }
    /** Checks whether the module is evaluated and has defined its plugin. */
    const look = (): boolean => {
      if (isOver) return true
      const defined = inside.defined()
      if (defined === null) return false
      if (defined._tag !== "Returned") seen(defined)
      else if (defined.text === null) refuse("definePlugin was given too much")
      else {
        isOver = true
        running.delete(load.id)
        for (const timer of load.timers.values()) timer.cancel()
        flushLines()
        post({ kind: "ready", defined: defined.text })
        ready(receive)
      }
      return true
    }
    deadline.begin(loadCpuMs, startMs)
    seen(inside.call("configure", start.config))
    current = load
    let ended = isOver ? null : inside.evaluate()
    if (ended !== null) {
      seen(ended)
      ended = runJobs()
      if (ended !== null) seen(ended)
    }
    if (deadline.wasOver()) seen({ _tag: "Stopped" })
    if (engine.isExhausted()) seen({ _tag: "Broken", reason: "out of memory" })
    flushLines()
    if (!look()) refuse("Its code awaits something that does not come: a plugin cannot wait while it is loaded")
    current = null
  })
}
