/** The tunnels of this gateway (docs/tunnels.md). Several may be open at once, one of each backend. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import type { TunnelBackend, TunnelStatus } from "../domain/Tunnel.ts"
import type { StoreError } from "../store/Errors.ts"

/** A gateway that requires no API key is opened to the internet only when that is asked for by name. */
export class KeysRequired extends Data.TaggedError("KeysRequired")<{ readonly backend: TunnelBackend }> {}

/** An option cannot be used. */
export class InvalidTunnelOption extends Data.TaggedError("InvalidTunnelOption")<{
  readonly field: string
  readonly message: string
}> {}

export type EnableTunnel = { readonly allowKeyless: boolean } & (
  | { readonly backend: "quick" }
  /** `authToken` null: the stored one, or that of `TOKEN_TUNNEL_AUTHTOKEN`. One that is given is stored, encrypted. */
  | { readonly backend: "token"; readonly authToken: Redacted.Redacted | null }
  /** `port`: the public port, 443, 8443 or 10000. `sudoPassword` is used for this call and never stored. */
  | { readonly backend: "mesh"; readonly port: number; readonly sudoPassword: Redacted.Redacted | null }
  /** `hostKey`: `SHA256:…` of the server's key; null: the one pinned before. */
  | {
      readonly backend: "ssh"
      readonly user: string
      readonly host: string
      readonly port: number
      /** 0: the server chooses a free one. */
      readonly remotePort: number
      readonly hostKey: string | null
    }
)

export class Tunnels extends Context.Tag("gateway/tunnels/Tunnels")<
  Tunnels,
  {
    /** All backends in the order of `TunnelBackend`. */
    readonly list: Effect.Effect<ReadonlyArray<TunnelStatus>>
    readonly status: (backend: TunnelBackend) => Effect.Effect<TunnelStatus>
    /** The status of one backend: now, and at every change. */
    readonly changes: (backend: TunnelBackend) => Stream.Stream<TunnelStatus>
    /**
     * Opens it and answers when it is open, has failed or waits for a person, at the latest after 30 seconds with what it is then. One
     * that is open with the same options stays as it is; with others it is opened anew.
     */
    readonly enable: (
      tunnel: EnableTunnel
    ) => Effect.Effect<TunnelStatus, KeysRequired | InvalidTunnelOption | StoreError>
    /** Done when nothing of it is left. */
    readonly disable: (backend: TunnelBackend) => Effect.Effect<TunnelStatus, StoreError>
    /** Hot: the host names under which tunnels are open now, in lower case and without ports. */
    readonly publicHosts: () => ReadonlySet<string>
    /** Hot: whether an open tunnel may carry requests while no API key is required. */
    readonly allowsKeyless: () => boolean
  }
>() {}
