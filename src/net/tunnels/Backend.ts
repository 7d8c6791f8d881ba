/**
 * Interface of a backend: one attempt to be open. Restarts, phases and the status are those of all backends
 * (`Supervisor`).
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { TunnelBackend } from "../../subjects/tunnels/entity.ts"
import type { Entrance } from "./TunnelEntrance.ts"

/**
 * Error of a tunnel that is not open, or not any more. `reason` is a sentence for people, without secrets. `isFinal`:
 * trying again by itself is of no use.
 */
export class TunnelFailed extends Data.TaggedError("TunnelFailed")<{
  readonly reason: string
  readonly isFinal: boolean
}> {}

/** A person has to act first: give a token, log in. */
export class TunnelNeedsAuth extends Data.TaggedError("TunnelNeedsAuth")<{
  readonly reason: string
  /** Address to do that at; null: there is no such page. */
  readonly authUrl: string | null
}> {}

export interface Opened {
  /** An origin, `https://host` or `http://host:port`, without a trailing slash. */
  readonly publicUrl: string
}

export interface Backend<Options> {
  readonly name: TunnelBackend
  /** Warning that the status has from the start. */
  readonly warning: string | null
  /**
   * Describes what a person has to do before it can be opened with these options; null: nothing. Absent: an attempt
   * shows it.
   */
  readonly lacks?: (options: Options) => TunnelNeedsAuth | null
  /**
   * Opens the tunnel, calls `opened` each time that it has an address, and runs until it fails. Everything that it holds (processes,
   * sessions, timers) is released with its scope, by force if needed.
   */
  readonly run: (
    options: Options,
    entrance: Entrance,
    opened: (opened: Opened) => Effect.Effect<void>
  ) => Effect.Effect<never, TunnelFailed | TunnelNeedsAuth, Scope.Scope>
}
