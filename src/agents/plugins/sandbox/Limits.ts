/** Limits of a sandbox, and of what crosses its boundary. */
import { defaultHookTimeoutMs } from "../../../subjects/plugins/entity.ts"
import type { SandboxLimits } from "./Sandbox.ts"

export const usualSandboxLimits: SandboxLimits = {
  memoryBytes: 64 * 1_048_576,
  stackBytes: 512 * 1_024,
  cpuMs: 50,
  timeoutMs: defaultHookTimeoutMs,
  waiting: 64
}

/** Limits of one call. */
export const crossing = {
  /** Metadata, the selection of a strategy, arguments of a call of the host without its data. */
  smallChars: 65_536,
  /** The answer of `blockRequest`: it is read by the main thread. */
  answerChars: 1_048_576,
  reasonChars: 1_000,
  bodyBytes: 32 * 1_048_576,
  lineChars: 2_000,
  linesPerCall: 100,
  urlChars: 8_192,
  /** Calls of the host in progress, for all calls of a plugin together, and in all for one of them. */
  asksAtOnce: 32,
  asksPerCall: 256,
  /** Most characters with its data: a file, the body of a request. */
  askChars: 8 * 1_048_576,
  timersPerCall: 64,
  /** Most bytes that a call has fetched and not read. */
  blobBytesPerCall: 16 * 1_048_576
} as const

/** Processor time that the evaluation of a plugin's code may take. It cannot wait, so a busy machine makes it slower, and not wrong. */
export const loadCpuMs = 500
/**
 * Time limit in ms by the clock, for the start of the thread, the engine and the code: a last resort, where a machine
 * gives the thread next to no time.
 */
export const startMs = 60_000
/** Time limit in ms of `onInstall` and the other events of a plugin's own life. */
export const lifecycleMs = 5_000
/** Jobs that may still run when the time of a call is over, so that its failure is noticed. */
export const gracefulJobs = 256
export const gracefulMs = 10

export const fetchLimits = { timeoutMs: 10_000, maxBytes: 5 * 1_048_576 } as const
export const fileLimits = {
  fileBytes: 5 * 1_048_576,
  folderBytes: 50 * 1_048_576,
  entries: 2_000,
  pathChars: 512
} as const
export const execLimits = { timeoutMs: 10_000, outputBytes: 1_048_576, args: 64, argChars: 8_192 } as const
