/**
 * The processes of a gateway that runs as several (docs/workers.md): the first one, which people start, forks an owner of the data folder and
 * workers. All of them are this same program with the same arguments. Their listening sockets are the first one's (`node:cluster` without
 * its own distribution of connections), so that a process may end while its socket goes on taking connections.
 */
import cluster, { type Worker } from "node:cluster"

/** A worker's process. `life` counts the processes that a place has had. */
export interface WorkerProcess {
  readonly place: number
  readonly life: number
  readonly pid: number
  /** Epoch milliseconds. */
  readonly startedMs: number
}

/** A process's part. A place is 0 for the owner and from 1 for workers; each new process at a place has the next life. */
export interface ProcessRole {
  readonly role: "owner" | "worker"
  readonly place: number
  readonly life: number
  /** Folder of the sockets between them, which only this user can enter. */
  readonly folder: string
  /** Port that clients reach, also where a free one was asked for. */
  readonly port: number
  readonly workers: number
  /** Workers that run while this process starts. */
  readonly running: ReadonlyArray<WorkerProcess>
}

/** Messages of a sibling to the first process. */
export type ToFirst =
  /** It serves. */
  | { readonly type: "ready" }
  /** The whole gateway is to stop, or its workers are to begin anew. */
  | { readonly type: "stop" }
  | { readonly type: "renew" }

/** Messages of the first process to a sibling. */
export type ToSibling =
  /** All processes serve. */
  | { readonly type: "up" }
  /** End: `drainMs` for running requests; null: as configured. */
  | { readonly type: "end"; readonly drainMs: number | null }
  /** A worker's process was started, or has ended. To the owner. */
  | { readonly type: "joined"; readonly worker: WorkerProcess }
  | { readonly type: "left"; readonly place: number; readonly life: number }

const variable = "GATEWAY_PROCESS"

/** Part of this process; null for one that was not forked by a first one. */
export const ownRole = (): ProcessRole | null => {
  const text = process.env[variable]
  return cluster.isWorker && text !== undefined ? (JSON.parse(text) as ProcessRole) : null
}

/** Process id of the first process: this one, where there are no others. */
export const firstPid = (): number => (ownRole() === null ? process.pid : process.ppid)

export const tellFirst = (message: ToFirst): void => void process.send?.(message)

/** Calls `listener` with what the first process says, until the returned function is called. When that has ended, this one is told to end. */
export const heedFirst = (listener: (message: ToSibling) => void): (() => void) => {
  const told = (message: unknown): void => listener(message as ToSibling)
  const alone = (): void => listener({ type: "end", drainMs: null })
  // Else node ends this process at once when the first one has ended.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
  process.on("message", told).on("disconnect", alone)
  return () => void process.off("message", told).off("disconnect", alone)
}

export interface Sibling {
  readonly pid: number
  readonly tell: (message: ToSibling) => void
  readonly kill: () => void
}

export interface SiblingEvents {
  readonly said: (message: ToFirst) => void
  readonly ended: (code: number | null, signal: string | null) => void
}

let isSetUp = false
const running = new Set<Worker>()

const setUp = (): void => {
  if (isSetUp) return
  isSetUp = true
  // Handing each connection on costs 450 µs, a shared socket 10.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  process.on("exit", () => {
    for (const { process: child } of running) child.kill("SIGKILL")
  })
}

/** Starts a process with a part. */
export const fork = (role: ProcessRole, { ended, said }: SiblingEvents): Sibling => {
  setUp()
  const worker = cluster.fork({ [variable]: JSON.stringify(role) })
  running.add(worker)
  worker.on("message", (message: unknown) => said(message as ToFirst))
  worker.on("exit", (code: number | null, signal: string | null) => {
    running.delete(worker)
    ended(code, signal)
  })
  // A process that cannot be started, or is gone when it is told something.
  worker.on("error", () => {})
  return {
    pid: worker.process.pid ?? 0,
    tell: (message) => {
      if (worker.isConnected()) worker.send(message, () => {})
    },
    kill: () => void worker.process.kill("SIGKILL")
  }
}
