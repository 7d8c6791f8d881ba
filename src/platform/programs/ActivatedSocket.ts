/**
 * Finds the listening socket that systemd has opened for this program (socket activation): connections wait in it while the program starts or starts
 * again. https://www.freedesktop.org/software/systemd/man/sd_listen_fds.html
 */
import { processEnvironment } from "../AppConfig.ts"
import { firstPid } from "./Siblings.ts"

/** The first descriptor that is handed over. */
const firstFd = 3

export interface Activation {
  /** Descriptor of the one socket; of a worker, in the first process. */
  readonly fd: number
  /** Number of sockets that were handed over. */
  readonly sockets: number
}

/** Reads what was handed over to the first process; null: nothing, or it was for another one, whose variables it has inherited. Pure. */
export const activationIn = (environment: ReadonlyMap<string, string>, pid: number): Activation | null => {
  const sockets = Number(environment.get("LISTEN_FDS") ?? "")
  if (!Number.isSafeInteger(sockets) || sockets < 1) return null
  return environment.get("LISTEN_PID") === String(pid) ? { fd: firstFd, sockets } : null
}

export const activation = (): Activation | null => activationIn(processEnvironment(), firstPid())
