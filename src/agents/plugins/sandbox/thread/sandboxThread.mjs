// Runs one plugin on a thread of its own. The build makes one file of this and all it imports; a Node that reads TypeScript runs it from source.
// The messages are in `Protocol.ts`.
import { randomUUID } from "node:crypto"
import os from "node:os"
import { MessageChannel, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads"
import * as Timers from "../../../../platform/Timers.ts"
import { makeCpuTime } from "./CpuTime.ts"
import { makeMachine } from "./Machine.ts"

// What the engine's package prints of its own problems is not for the gateway's output.
const silent = () => {}
Object.assign(globalThis.console, { log: silent, info: silent, warn: silent, error: silent, debug: silent })

// Where cores are scarce, a plugin that does not end must not hold up other requests, and what only listens comes last. On Linux the priority is
// that of the thread alone, elsewhere it would be the whole program's.
try {
  if (process.platform === "linux") os.setPriority(0, workerData.isBackground ? 10 : 5)
} catch {
  // Where that is not allowed, it works at the usual one.
}

const askNow = (operation, args, withinMs) => {
  const { port1, port2 } = new MessageChannel()
  const signal = new Int32Array(new SharedArrayBuffer(4))
  parentPort.postMessage({ kind: "askNow", operation, args, port: port2, signal }, [port2])
  Atomics.wait(signal, 0, 0, withinMs)
  const answer = receiveMessageOnPort(port1)?.message ?? null
  port1.close()
  return answer
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
const post = (message, transfer) => parentPort.postMessage(message, transfer)

const start = async () => {
  const machine = { post, askNow, uuid: randomUUID, cpuMs: makeCpuTime().readMs }
  const receive = await makeMachine(workerData, machine, Timers.make)
  if (receive !== null) parentPort.on("message", receive)
}

// Not awaited at the top: the build packs this file as a script. A failure ends the thread all the same.
void start()
