/**
 * Finds the listening socket that systemd has opened for this program (socket activation): connections wait in it while the program starts or starts
 * again. https://www.freedesktop.org/software/systemd/man/sd_listen_fds.html
 */
import cluster from "node:cluster"
import { processEnvironment } from "../AppConfig.ts"

/** The first descriptor that is handed over. */
const firstFd = 3

export interface Activation {
  /** Descriptor of the one socket; of a worker, in the process that started it. */
  readonly fd: number
  /** Number of sockets that were handed over. */
  readonly sockets: number
}

/** Reads what was handed over; null: nothing, or it was for another process, whose variables this one has inherited. Pure. */
export const activationIn = (
  environment: ReadonlyMap<string, string>,
  pids: { readonly own: number; readonly starter: number | null }
): Activation | null => {
  const pid = Number(environment.get("LISTEN_PID") ?? "")
  const sockets = Number(environment.get("LISTEN_FDS") ?? "")
  if (!Number.isSafeInteger(sockets) || sockets < 1) return null
  return pid === pids.own || (pids.starter !== null && pid === pids.starter) ? { fd: firstFd, sockets } : null
}

export const activation = (): Activation | null =>
  activationIn(processEnvironment(), { own: process.pid, starter: cluster.isWorker ? process.ppid : null })
