/** The mesh VPN's own program on this machine: whether it can be used, and what a person has done to it (docs/tunnels.md). */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"

/** It was not done. `reason` is a sentence for people, without secrets. */
export class MeshToolFailed extends Data.TaggedError("MeshToolFailed")<{ readonly reason: string }> {}

export interface MeshCheck {
  readonly installed: boolean
  readonly daemonRunning: boolean
  readonly loggedIn: boolean
  /** Null: not installed, or not to be told. */
  readonly version: string | null
  /** Its name in the network; null: it has none yet. */
  readonly hostname: string | null
}

export interface LoggingIn {
  /** Where a person logs in; null: this machine is logged in. */
  readonly authUrl: string | null
  readonly loggedIn: boolean
}

export interface MeshProgress {
  readonly step: string
  readonly message: string
  /** Null: not known. */
  readonly percent: number | null
}

/** What a person has to do before a funnel opens. */
export interface MeshNotice {
  /** Where this machine is logged in; null: it is, or the address is not known. */
  readonly authUrl: string | null
  /** The network does not allow funnels yet. */
  readonly funnelNotEnabled: boolean
  /** Where they are allowed; null: they are, or the address is not known. */
  readonly enableUrl: string | null
}

export class MeshTools extends Context.Tag("gateway/tunnels/MeshTools")<
  MeshTools,
  {
    /** As the last attempt to open the funnel has found it. */
    readonly notice: Effect.Effect<MeshNotice>
    readonly check: Effect.Effect<MeshCheck>
    /** Installs the program; each step as it begins. `sudoPassword` is used for this call only, as below. */
    readonly install: (sudoPassword: Redacted.Redacted | null) => Stream.Stream<MeshProgress, MeshToolFailed>
    readonly startDaemon: (sudoPassword: Redacted.Redacted | null) => Effect.Effect<MeshCheck, MeshToolFailed>
    /** Answers as soon as the address is known. `hostname` null: the machine's own name. */
    readonly login: (hostname: string | null) => Effect.Effect<LoggingIn, MeshToolFailed>
    /** Takes back the funnel of a tunnel that was closed, where that needs a password; nothing where nothing is left of it. */
    readonly takeBack: (sudoPassword: Redacted.Redacted | null) => Effect.Effect<void, MeshToolFailed>
  }
>() {}
