/**
 * The thread of one plugin, from its start to its end. Where a thread cannot start (a Node that reads no TypeScript, from source) the plugin
 * runs here: that is for tests only, the built program always has its thread.
 */
import { type MessagePort, Worker } from "node:worker_threads"
import type { Timers } from "../../../platform/Timers.ts"
import type { FromThread, HostAnswer, ThreadStart, ToThread } from "./thread/Protocol.ts"

export interface ThreadEvents {
  readonly onMessage: (message: FromThread) => void
  /** Called when it has ended by itself, or could not start. Never after `stop`. */
  readonly onDeath: (reason: string) => void
}

export interface PluginThread {
  readonly post: (message: ToThread, transfer: ReadonlyArray<ArrayBuffer>) => void
  /** Ends it at once, whatever it does; done when it is gone. */
  readonly stop: () => Promise<void>
}

export const threadFile: URL = new URL("./thread/sandboxThread.mjs", import.meta.url)

const isSource = import.meta.url.endsWith(".ts")

/** A thread could not read the source. */
let cannotStart = false

/** The engine's memory is outside of these. The stack is for its recursion, whose frames are larger than those it counts itself. */
const resourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16, stackSizeMb: 16 }

const startInProcess = (
  start: ThreadStart,
  timers: Pick<typeof Timers.Service, "after" | "monotonicMs">,
  { onDeath, onMessage }: ThreadEvents
): PluginThread => {
  let isStopped = false
  let receive: ((message: ToThread) => void) | null = null
  // Copied, as a thread gets them.
  const post = (message: FromThread): void => {
    const copy = structuredClone(message)
    queueMicrotask(() => {
      if (!isStopped) onMessage(copy)
    })
  }
  const port = {
    post,
    askNow: (): HostAnswer => ({
      isDone: false,
      text: '{"code":"ENOSYS","message":"Not without a thread","type":"Error"}',
      blob: null
    }),
    uuid: () => globalThis.crypto.randomUUID(),
    cpuMs: () => null
  }
  const run = async (): Promise<void> => {
    const { makeMachine } = await import("./thread/Machine.ts")
    receive = await makeMachine(start, port, timers)
  }
  run().catch((error: unknown) => {
    if (!isStopped) onDeath(String(error))
  })
  return {
    post: (message) => {
      const copy = structuredClone(message)
      timers.after(0, () => {
        if (!isStopped) receive?.(copy)
      })
    },
    stop: async () => {
      isStopped = true
    }
  }
}

const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : null

export const startThread = (
  start: ThreadStart,
  timers: Pick<typeof Timers.Service, "after" | "monotonicMs">,
  events: ThreadEvents,
  file: URL = threadFile
): PluginThread => {
  if (cannotStart && file === threadFile) return startInProcess(start, timers, events)
  let isStopped = false
  let here: PluginThread | null = null
  const worker = new Worker(file, {
    workerData: start,
    execArgv: [],
    env: {},
    argv: [],
    stdin: false,
    trackUnmanagedFds: true,
    resourceLimits
  })
  const died = (reason: string): void => {
    if (isStopped) return
    isStopped = true
    void worker.terminate()
    events.onDeath(reason)
  }
  worker.on("message", (message: FromThread) => {
    if (!isStopped) events.onMessage(message)
  })
  worker.on("messageerror", () => died("its message could not be read"))
  worker.on("error", (error: unknown) => {
    if (isSource && file === threadFile && codeOf(error) === "ERR_UNKNOWN_FILE_EXTENSION" && !isStopped) {
      isStopped = true
      cannotStart = true
      here = startInProcess(start, timers, events)
      return
    }
    died(codeOf(error) === "ERR_WORKER_OUT_OF_MEMORY" ? "out of memory" : "it failed")
  })
  worker.on("exit", (code) => died(`it ended with ${code}`))
  // It must not keep the process alive.
  worker.unref()
  return {
    post: (message, transfer) => {
      if (here !== null) return here.post(message, transfer)
      worker.postMessage(message, transfer)
    },
    stop: async () => {
      if (here !== null) await here.stop()
      isStopped = true
      await worker.terminate()
    }
  }
}

/** Gives a waiting thread its answer. */
export const answerNow = (port: MessagePort, signal: Int32Array, answer: HostAnswer): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  port.postMessage(answer)
  port.close()
  Atomics.store(signal, 0, 1)
  Atomics.notify(signal, 0)
}
