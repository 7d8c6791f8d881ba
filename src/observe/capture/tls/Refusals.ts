/**
 * Clients that do not take our certificates for a host (pinning, or a trust store of their own). Their connections to it are tunnelled for a while;
 * those of other programs to the same host are decrypted as before. Clients show it by an alert, or by leaving without a byte twice in a row:
 * Node's do not say why. Pure but for its memory.
 *
 * A client is known by its hello (`ClientHello`), because its process is found too late for that: the certificate has been refused by then, and a
 * program that is tried again is another process.
 */
import { LruMap } from "../../../kernel/collections/LruMap.ts"

export interface Refuser {
  readonly host: string
  /** Client as `Hello.client`. */
  readonly client: string
}

export interface TunnelledHost {
  readonly host: string
  /** Epoch milliseconds. */
  readonly untilMs: number
  readonly why: "alert" | "no_bytes"
}

export const refusalRules = {
  /** Connections in a row that ended without a byte. */
  silentEnds: 2,
  /** Silent ends farther apart than this have nothing to do with each other. */
  togetherMs: 60_000,
  /** The first time a host is tunnelled; twice as long each time after. */
  tunnelMs: 60_000,
  mostTunnelMs: 600_000,
  /** Pairs of a host and a client. */
  pairs: 1_024
}

interface State {
  readonly host: string
  silentEnds: number
  lastSilentMs: number
  untilMs: number
  tunnelMs: number
  why: TunnelledHost["why"]
}

const keyOf = ({ client, host }: Refuser): string => `${client} ${host}`

export class Refusals {
  readonly #pairs = new LruMap<string, State>({ capacity: refusalRules.pairs })

  isTunnelled(refuser: Refuser, nowMs: number): boolean {
    const state = this.#pairs.peek(keyOf(refuser))
    return state !== undefined && nowMs < state.untilMs
  }

  /** A client has asked something: it takes the certificate. */
  accepted(refuser: Refuser): void {
    if (this.#pairs.size > 0) this.#pairs.delete(keyOf(refuser))
  }

  /** True when this is the news: the client is tunnelled from now on and was not before. */
  alerted(refuser: Refuser, nowMs: number): boolean {
    return this.#tunnel(this.#stateOf(refuser), "alert", nowMs)
  }

  /** Records, as `alerted`, a connection that ended without a byte after its handshake had begun. */
  endedSilently(refuser: Refuser, nowMs: number): boolean {
    const state = this.#stateOf(refuser)
    state.silentEnds = nowMs - state.lastSilentMs <= refusalRules.togetherMs ? state.silentEnds + 1 : 1
    state.lastSilentMs = nowMs
    return state.silentEnds >= refusalRules.silentEnds && this.#tunnel(state, "no_bytes", nowMs)
  }

  /** Each host once, with the time until which the last of its clients is tunnelled. */
  tunnelled(nowMs: number): ReadonlyArray<TunnelledHost> {
    const hosts = new Map<string, TunnelledHost>()
    for (const [, { host, untilMs, why }] of this.#pairs) {
      if (nowMs < untilMs && untilMs > (hosts.get(host)?.untilMs ?? 0)) hosts.set(host, { host, untilMs, why })
    }
    return [...hosts.values()]
  }

  #stateOf(refuser: Refuser): State {
    const key = keyOf(refuser)
    const known = this.#pairs.get(key)
    if (known !== undefined) return known
    const { host } = refuser
    const state: State = { host, silentEnds: 0, lastSilentMs: 0, untilMs: 0, tunnelMs: 0, why: "alert" }
    this.#pairs.set(key, state)
    return state
  }

  #tunnel(state: State, why: TunnelledHost["why"], nowMs: number): boolean {
    const isNews = state.untilMs === 0
    // Several connections that were in progress together are one refusal.
    if (nowMs < state.untilMs) return false
    state.tunnelMs = Math.min(Math.max(2 * state.tunnelMs, refusalRules.tunnelMs), refusalRules.mostTunnelMs)
    state.untilMs = nowMs + state.tunnelMs
    state.silentEnds = 0
    state.why = why
    return isNews
  }
}
