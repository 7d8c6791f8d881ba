/** Looks at a server of Valkey or Redis without changing it. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ValkeyAddress } from "../../platform/ValkeyAddress.ts"
import { connect, type ValkeyError } from "./Connection.ts"

export interface ValkeyState {
  /** Name and number. */
  readonly version: string
  /** Reason for which gateways cannot tell each other over it; null: none. */
  readonly problem: string | null
  readonly roundTripMs: number
}

/** The first version that removes entries of a stream by their age. */
const leastVersion = [6, 2] as const

const fieldOf = (info: string, name: string): string | null =>
  info
    .split("\r\n")
    .find((line) => line.startsWith(`${name}:`))
    ?.slice(name.length + 1) ?? null

/** Judges what a server says of itself (`INFO`). Pure. */
export const stateOf = (info: string): Omit<ValkeyState, "roundTripMs"> => {
  const valkey = fieldOf(info, "valkey_version")
  const number = valkey ?? fieldOf(info, "redis_version") ?? ""
  const version = `${valkey === null ? "Redis" : "Valkey"} ${number}`
  const [major = 0, minor = 0] = number.split(".").map(Number)
  const isOld = major < leastVersion[0] || (major === leastVersion[0] && minor < leastVersion[1])
  if (isOld) return { version, problem: `it is older than ${leastVersion.join(".")}` }
  const isReplica = fieldOf(info, "role") === "slave"
  return { version, problem: isReplica ? "it is a replica, to which nothing can be written" : null }
}

export const inspect = (address: ValkeyAddress): Effect.Effect<ValkeyState, ValkeyError> =>
  Effect.gen(function* () {
    const { send } = yield* connect(address, "gateway-doctor")
    const info = String(yield* send(["INFO"]))
    const beganNs = yield* Clock.currentTimeNanos
    yield* send(["PING"])
    const roundTripMs = Number((yield* Clock.currentTimeNanos) - beganNs) / 1e6
    return { ...stateOf(info), roundTripMs }
  }).pipe(Effect.scoped)
