/** Sockets of Node with a firewall mark. Node makes its own too late to set one, so the descriptor comes from the addon. */
import { isIPv6, Socket } from "node:net"
import type { Timers } from "../../../platform/Timers.ts"
import { type Dialled, DialFailed, dialFailed } from "../tls/Origin.ts"
import type { Addon } from "./Addon.ts"

/** Connects in the same turn: a socket that waits with that has lost its way. Throws the system's error where none can be made. */
export const connectMarked = (
  addon: Pick<Addon, "socket">,
  mark: number,
  address: string,
  port: number,
  /** `localAddress`: its own address; the system chooses one otherwise. */
  { allowHalfOpen = false, localAddress }: { readonly allowHalfOpen?: boolean; readonly localAddress?: string } = {}
): Socket => {
  const fd = addon.socket(isIPv6(address) ? 6 : 4, mark)
  const socket = new Socket({ fd, allowHalfOpen })
  socket.setNoDelay(true)
  return socket.connect({ host: address, port, ...(localAddress === undefined ? {} : { localAddress }) })
}

export interface MarkedDialling {
  readonly addon: Pick<Addon, "socket">
  readonly mark: number
  readonly timers: Pick<typeof Timers.Service, "after">
  readonly timeoutMs: number
}

/** Connects a socket to an address, for the listener. */
export const dialMarked = (
  { addon, mark, timeoutMs, timers }: MarkedDialling,
  address: string,
  port: number,
  done: (dialled: Dialled) => void
): void => {
  let socket: Socket
  try {
    socket = connectMarked(addon, mark, address, port, { allowHalfOpen: true })
  } catch (cause) {
    timers.after(0, () => done(dialFailed(cause, address)))
    return
  }
  let isOver = false
  const finish = (dialled: Dialled): void => {
    if (isOver) return
    isOver = true
    timer.cancel()
    if (dialled instanceof DialFailed) socket.destroy()
    done(dialled)
  }
  const timer = timers.after(timeoutMs, () =>
    finish(new DialFailed("ETIMEDOUT", `The connection to ${address} was not made in time.`))
  )
  socket.on("error", (error) => finish(dialFailed(error, address))).once("connect", () => finish(socket))
}
