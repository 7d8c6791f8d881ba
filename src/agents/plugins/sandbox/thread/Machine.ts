/**
 * A plugin in its engine, and the calls that are in progress in it. Code of the plugin runs in turns: each begins with one message (a call,
 * an answer of the gateway, a timer) and ends when no job is left, so that its processor time belongs to one call. Nothing runs between
 * calls: what a call has started ends with it.
 */
import type { PluginHook } from "../../../../subjects/plugins/entity.ts"
import type { Timer, Timers } from "../../../../platform/Timers.ts"
import { isObject } from "../../../../wire/json/Json.ts"
import { readAnswerJson, Unreadable } from "../../../../wire/json/Bounds.ts"
import { type Engine, makeEngine } from "../Engine.ts"
import { crossing, gracefulJobs, gracefulMs, loadCpuMs, startMs } from "../Limits.ts"
import { makeDeadline } from "./Deadline.ts"
import { type HostApi, Refused } from "./HostFunctions.ts"
import { type Ended, type Inside, makeInside } from "./Inside.ts"
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
/** A plugin in its engine, with the calls that are in progress in it. */
class Machine {
  readonly start: ThreadStart
  readonly port: MachinePort
  readonly timers: Pick<typeof Timers.Service, "after" | "monotonicMs">
  readonly engine: Engine
  readonly deadline: ReturnType<typeof makeDeadline>
  readonly inside: Inside
  readonly running = new Map<number, Running>()
  readonly askers = new Map<number, Running>()
  readonly lines: Array<ThreadLine> = []
  /** True when it has got text that may not be kept: its output outside of any call may be that. */
  hasHeard = false
  current: Running | null = null
  isBroken = false
  lastCall = 0
  lastBlob = 0

  constructor(engine: Engine, start: ThreadStart, port: MachinePort, timers: Machine["timers"]) {
    this.start = start
    this.port = port
    this.timers = timers
    this.engine = engine
    this.deadline = makeDeadline({ nowMs: timers.monotonicMs, cpuMs: port.cpuMs })
    this.inside = makeInside(engine, hostApi(this), start)
    // Not before: the scripts are the gateway's own.
    engine.interruptWhen(this.deadline.isOver)
  }
}

const post = (machine: Machine, message: FromThread, transfer: ReadonlyArray<ArrayBuffer> = []): void =>
  machine.port.post(message, transfer)

const encoder = new TextEncoder()

/** The text of a changed body, checked: what leaves the sandbox is JSON of an object within the usual limits. */
const bodyOutcome = (maxBodyBytes: number, body: string, metadata: string | null): Outcome => {
  const value = readAnswerJson(body)
  if (value instanceof Unreadable) return failedOutcome(value.message)
  if (!isObject(value)) return failedOutcome("The body must be an object")
  const bytes = encoder.encode(body)
  if (bytes.byteLength > maxBodyBytes) return failedOutcome(`The body has more than ${maxBodyBytes} bytes, the limit`)
  return { tag: "changed", body: bytes, answer: null, reason: null, metadata }
}

const outcomeOf = (
  maxBodyBytes: number,
  kind: number,
  body: string | null,
  answer: string | null,
  metadata: string | null
): Outcome => {
  const tag = tags[kind] ?? "failed"
  if (tag === "failed") return failedOutcome(body ?? "it failed")
  if (tag === "changed") return bodyOutcome(maxBodyBytes, body ?? "", metadata)
  return { tag, body: null, answer, reason: null, metadata }
}

const owner = (machine: Machine): Running => {
  if (machine.current === null || machine.current.outcome !== null)
    throw new Refused("The call that this belongs to is over")
  return machine.current
}
/** The functions of the gateway that code of the plugin may call. */
const hostApi = (machine: Machine): HostApi => ({
  log: (level, message) => {
    if (machine.current !== null) {
      machine.current.lines += 1
      if (machine.current.lines > crossing.linesPerCall) return
      if (machine.current.lines === crossing.linesPerCall) message = "Further lines of this call are left out."
    }
    machine.lines.push({
      level,
      hook: machine.current?.hook ?? null,
      message: message.slice(0, crossing.lineChars),
      mayKeep: machine.current?.mayLog ?? !machine.hasHeard
    })
  },
  timer: (id, delayMs) => {
    const call = owner(machine)
    if (call.timers.size >= crossing.timersPerCall) throw new Refused(`More than ${crossing.timersPerCall} timers wait`)
    const due = (): void => {
      call.timers.delete(id)
      turn(machine, call, () => machine.inside.call("fire", id))
    }
    call.timers.set(id, machine.timers.after(Math.min(delayMs, 2_147_483_647), due))
  },
  clearTimer: (id) => {
    machine.current?.timers.get(id)?.cancel()
    machine.current?.timers.delete(id)
  },
  body: (id) => {
    const body = machine.running.get(id)?.body
    if (body === null || body === undefined) throw new Refused("The call is over, and its body with it")
    if (body.byteLength > machine.start.limits.memoryBytes / bodyShare) {
      throw new Refused(`The body has ${body.byteLength} bytes, more than the memory of a plugin can hold`)
    }
    return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8")
  },
  done: (id, kind, body, answer, metadata) => {
    const call = machine.running.get(id)
    if (call !== undefined) call.outcome ??= outcomeOf(machine.start.maxBodyBytes, kind, body, answer, metadata)
  },
  ask: (id, operation, args) => {
    const call = owner(machine)
    if (machine.askers.size >= crossing.asksAtOnce || call.asked >= crossing.asksPerCall) {
      throw new Refused(`More than ${crossing.asksAtOnce} calls at once, or ${crossing.asksPerCall} in one call`)
    }
    call.asked += 1
    call.asks.add(id)
    machine.askers.set(id, call)
    post(machine, { kind: "ask", ask: id, operation, args })
  },
  askNow: (operation, args) => {
    const call = owner(machine)
    call.asked += 1
    if (call.asked > crossing.asksPerCall) throw new Refused(`More than ${crossing.asksPerCall} calls in one call`)
    const begunMs = machine.timers.monotonicMs()
    const answer = machine.port.askNow(operation, args, Math.max(1, call.endsAtMs - begunMs))
    machine.deadline.extend(machine.timers.monotonicMs() - begunMs)
    if (answer === null) throw new Refused("It took too long")
    return answer.isDone ? `{"done":${answer.text}}` : `{"failure":${answer.text}}`
  },
  drop: (id) => {
    const call = machine.askers.get(id)
    if (call === undefined) return
    machine.askers.delete(id)
    call.asks.delete(id)
    post(machine, { kind: "drop", ask: id })
  },
  blob: (id) => {
    const call = owner(machine)
    const bytes = call.blobs.get(id)
    if (bytes === undefined) throw new Refused("The body is gone")
    call.blobs.delete(id)
    call.blobBytes -= bytes.byteLength
    return bytes
  },
  environment: () => (machine.start.permissions.includes("env") ? machine.start.environment : "{}"),
  uuid: machine.port.uuid
})

const flushLines = (machine: Machine): void => {
  if (machine.lines.length > 0) post(machine, { kind: "lines", lines: machine.lines.splice(0) })
}

/** Ends a call with everything it has started. */
const close = (machine: Machine, call: Running, outcome: Outcome): void => {
  if (!machine.running.delete(call.id)) return
  call.outcome = outcome
  // The time of the call may be over, but this is the gateway's own.
  if (call.timers.size + call.asks.size > 0) machine.deadline.begin(gracefulMs, gracefulMs)
  for (const [id, timer] of call.timers) {
    timer.cancel()
    machine.inside.call("forgetTimer", id)
  }
  for (const id of call.asks) {
    machine.askers.delete(id)
    post(machine, { kind: "drop", ask: id })
    machine.inside.call("forgetAsk", id)
  }
  call.timers.clear()
  call.asks.clear()
  call.blobs.clear()
  call.done(outcome)
}

const breakDown = (machine: Machine, reason: string): void => {
  if (machine.isBroken) return
  machine.isBroken = true
  for (const call of machine.running.values()) for (const timer of call.timers.values()) timer.cancel()
  flushLines(machine)
  post(machine, { kind: "broken", reason })
}

/** Runs jobs until none is left; what went wrong, or null. */
const runJobs = (machine: Machine): Ended | null => {
  for (;;) {
    const left = machine.inside.runJobs(jobsAtOnce)
    if (left === true) return null
    if (left !== false) return left
    if (machine.deadline.isOver()) return { _tag: "Stopped" }
  }
}

/** Lets what was interrupted notice it. False: there is no end of jobs. */
const settleJobs = (machine: Machine): boolean => {
  machine.deadline.begin(gracefulMs, gracefulMs)
  for (let jobs = 0; jobs < gracefulJobs; jobs += jobsAtOnce)
    if (machine.inside.runJobs(jobsAtOnce) === true) return true
  return false
}

const tooMuch = (machine: Machine, call: Running): string =>
  call.endsAtMs <= machine.timers.monotonicMs()
    ? `It took longer than ${call.timeoutMs} ms`
    : `It took more than ${machine.start.limits.cpuMs} ms of processor time`

const turn = (machine: Machine, call: Running, run: () => Ended): void => {
  if (machine.isBroken || !machine.running.has(call.id)) return
  machine.current = call
  machine.deadline.begin(call.leftMs, Math.max(1, call.endsAtMs - machine.timers.monotonicMs()))
  const ended = run()
  const problem = ended._tag === "Returned" || ended._tag === "Threw" ? runJobs(machine) : ended
  call.leftMs -= machine.deadline.end()
  const isStopped = problem?._tag === "Stopped" || machine.deadline.wasOver()
  const isSettled = !isStopped || settleJobs(machine)
  machine.current = null
  const reason =
    problem?._tag === "Broken"
      ? problem.reason
      : machine.engine.isExhausted()
        ? isStopped
          ? "endless"
          : "out of memory"
        : isSettled
          ? null
          : "endless"
  if (isStopped && call.outcome === null) call.outcome = failedOutcome(tooMuch(machine, call))
  if (reason !== null)
    call.outcome = failedOutcome(reason === "endless" ? tooMuch(machine, call) : `The sandbox failed: ${reason}`)
  else if (ended._tag === "Threw" && call.outcome === null && call.asks.size + call.timers.size === 0) {
    machine.lines.push({
      level: 3,
      hook: call.hook,
      message: ended.message.slice(0, crossing.lineChars),
      mayKeep: call.mayLog
    })
  }
  if (call.outcome === null && machine.running.size === 1 && call.asks.size === 0 && call.timers.size === 0) {
    call.outcome = failedOutcome("Its promise is never settled: nothing is left that could do it")
  }
  flushLines(machine)
  if (call.outcome !== null) close(machine, call, call.outcome)
  if (reason !== null) breakDown(machine, reason === "endless" ? "a call did not end" : reason)
}

const begin = (
  machine: Machine,
  call: SentCall | null,
  cpuMs: number,
  wallMs: number,
  done: (outcome: Outcome) => void
): Running => {
  machine.lastCall += 1
  const begun: Running = {
    id: machine.lastCall,
    hook: call?.hook ?? null,
    mayLog: call?.mayLog ?? true,
    body: call?.body ?? null,
    timeoutMs: wallMs,
    endsAtMs: machine.timers.monotonicMs() + wallMs,
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
  machine.running.set(begun.id, begun)
  return begun
}

const invoke = (machine: Machine, call: SentCall, done: (outcome: Outcome) => void): Running => {
  machine.hasHeard ||= !call.mayLog
  const begun = begin(machine, call, machine.start.limits.cpuMs, call.timeoutMs, done)
  turn(machine, begun, () =>
    machine.inside.call("invoke", begun.id, call.hook, call.context, call.payload, call.body !== null)
  )
  return begun
}
const batch = (
  machine: Machine,
  { bodies, id, text, timeoutMs }: Extract<ToThread, { readonly kind: "batch" }>
): void => {
  const texts = text.split("\n")
  let failed = 0
  const next = (at: number): void => {
    const [marked = "", context = null, payload] = texts.slice(at * 3, at * 3 + 3)
    const mayLog = !marked.startsWith("-")
    const hook = mayLog ? marked : marked.slice(1)
    if (payload === undefined) return post(machine, { kind: "batched", id, failed })
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
    const begun = invoke(machine, call, (outcome) => {
      isOver = true
      late.timer?.cancel()
      if (outcome.tag === "failed") {
        failed += 1
        post(machine, {
          kind: "lines",
          lines: [{ level: 3, hook: call.hook, message: outcome.reason ?? "", mayKeep: call.mayLog }]
        })
      }
      // Not from within: a long batch of short calls would pile up.
      if (at % 64 === 63) machine.timers.after(0, () => next(at + 1))
      else next(at + 1)
    })
    if (!isOver) {
      late.timer = machine.timers.after(call.timeoutMs, () =>
        close(machine, begun, failedOutcome(`It took longer than ${call.timeoutMs} ms`))
      )
    }
  }
  next(0)
}

const answered = (machine: Machine, id: number, answer: HostAnswer): void => {
  const call = machine.askers.get(id)
  if (call === undefined) return
  machine.askers.delete(id)
  call.asks.delete(id)
  let { text } = answer
  if (answer.blob !== null) {
    machine.lastBlob += 1
    call.blobs.set(machine.lastBlob, answer.blob)
    call.blobBytes += answer.blob.byteLength
    text = `${text.slice(0, -1)}${text === "{}" ? "" : ","}"blob":${machine.lastBlob}}`
  }
  const isTooMuch = call.blobBytes > crossing.blobBytesPerCall
  turn(machine, call, () =>
    isTooMuch
      ? machine.inside.call(
          "settle",
          id,
          false,
          '{"type":"RangeError","code":null,"message":"Too many bodies are not read"}'
        )
      : machine.inside.call("settle", id, answer.isDone, text)
  )
}

const receive = (machine: Machine, message: ToThread): void => {
  if (machine.isBroken) return
  switch (message.kind) {
    case "call":
      invoke(machine, message.call, (outcome) =>
        post(
          machine,
          { kind: "outcome", id: message.id, ...outcome },
          outcome.body === null ? [] : [outcome.body.buffer as ArrayBuffer]
        )
      )
      return
    case "batch":
      return batch(machine, message)
    case "configure":
      machine.deadline.begin(machine.start.limits.cpuMs, machine.start.limits.timeoutMs)
      machine.inside.call("configure", message.config)
      return
    case "answer":
      return answered(machine, message.ask, message.answer)
  }
}
/** Evaluates the plugin; what receives its messages, or null where it was refused. */
const load = (machine: Machine): Promise<((message: ToThread) => void) | null> =>
  new Promise((ready) => {
    let isOver = false
    const refuse = (message: string): void => {
      if (isOver) return
      isOver = true
      machine.isBroken = true
      flushLines(machine)
      post(machine, { kind: "refused", message: message.slice(0, crossing.reasonChars) })
      ready(null)
    }
    const loading = begin(machine, null, loadCpuMs, startMs, (outcome) =>
      refuse(outcome.reason ?? "it could not be loaded")
    )
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
      const defined = machine.inside.defined()
      if (defined === null) return false
      if (defined._tag !== "Returned") seen(defined)
      else if (defined.text === null) refuse("definePlugin was given too much")
      else {
        isOver = true
        machine.running.delete(loading.id)
        for (const timer of loading.timers.values()) timer.cancel()
        flushLines(machine)
        post(machine, { kind: "ready", defined: defined.text })
        ready((message) => receive(machine, message))
      }
      return true
    }
    machine.deadline.begin(loadCpuMs, startMs)
    seen(machine.inside.call("configure", machine.start.config))
    machine.current = loading
    let ended = isOver ? null : machine.inside.evaluate()
    if (ended !== null) {
      seen(ended)
      ended = runJobs(machine)
      if (ended !== null) seen(ended)
    }
    if (machine.deadline.wasOver()) seen({ _tag: "Stopped" })
    if (machine.engine.isExhausted()) seen({ _tag: "Broken", reason: "out of memory" })
    flushLines(machine)
    if (!look()) refuse("Its code awaits something that does not come: a plugin cannot wait while it is loaded")
    machine.current = null
  })

export const makeMachine = async (
  start: ThreadStart,
  port: MachinePort,
  timers: Pick<typeof Timers.Service, "after" | "monotonicMs">
): Promise<((message: ToThread) => void) | null> =>
  load(new Machine(await makeEngine(start.wasm, start.limits), start, port, timers))
