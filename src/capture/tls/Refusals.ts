/**
 * Hosts whose clients do not take our certificates (pinning, or a trust store of their own). Their connections are tunnelled for a while.
 * Clients show it by an alert, or by leaving without a byte twice in a row: Node's do not say why. Pure but for its memory.
 */
import { LruMap } from "../../kernel/LruMap.ts"

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
  hosts: 1_024
}

interface State {
  silentEnds: number
  lastSilentMs: number
  untilMs: number
  tunnelMs: number
  why: TunnelledHost["why"]
}

export class Refusals {
  readonly #hosts = new LruMap<string, State>({ capacity: refusalRules.hosts })

  isTunnelled(host: string, nowMs: number): boolean {
    const state = this.#hosts.peek(host)
    return state !== undefined && nowMs < state.untilMs
  }

  /** A client has asked something: it takes the certificate. */
  accepted(host: string): void {
    if (this.#hosts.size > 0) this.#hosts.delete(host)
  }

  /** True when this is the news: the host is tunnelled from now on and was not before. */
  alerted(host: string, nowMs: number): boolean {
    return this.#tunnel(host, this.#stateOf(host), "alert", nowMs)
  }

  /** As `alerted`, for a connection that ended without a byte after its handshake had begun. */
  endedSilently(host: string, nowMs: number): boolean {
    const state = this.#stateOf(host)
    state.silentEnds = nowMs - state.lastSilentMs <= refusalRules.togetherMs ? state.silentEnds + 1 : 1
    state.lastSilentMs = nowMs
    return state.silentEnds >= refusalRules.silentEnds && this.#tunnel(host, state, "no_bytes", nowMs)
  }

  tunnelled(nowMs: number): ReadonlyArray<TunnelledHost> {
    return Array.from(this.#hosts)
      .filter(([, { untilMs }]) => nowMs < untilMs)
      .map(([host, { untilMs, why }]) => ({ host, untilMs, why }))
  }

  #stateOf(host: string): State {
    const known = this.#hosts.get(host)
    if (known !== undefined) return known
    const state: State = { silentEnds: 0, lastSilentMs: 0, untilMs: 0, tunnelMs: 0, why: "alert" }
    this.#hosts.set(host, state)
    return state
  }

  #tunnel(host: string, state: State, why: TunnelledHost["why"], nowMs: number): boolean {
    const isNews = state.untilMs === 0
    // Several connections that were under way together are one refusal.
    if (nowMs < state.untilMs) return false
    state.tunnelMs = Math.min(Math.max(2 * state.tunnelMs, refusalRules.tunnelMs), refusalRules.mostTunnelMs)
    state.untilMs = nowMs + state.tunnelMs
    state.silentEnds = 0
    state.why = why
    this.#hosts.set(host, state)
    return isNews
  }
}
