/** The backends of all kinds of tunnels, put together in `app`. */
import * as Context from "effect/Context"
import type * as Redacted from "effect/Redacted"
import type { Backend } from "./Backend.ts"
import type { QuickOptions } from "./quick/QuickBackend.ts"
import type { SshOptions } from "./ssh/Options.ts"

export interface BackendsShape {
  readonly quick: Backend<QuickOptions>
  /** `authToken` null: that of `TOKEN_TUNNEL_AUTHTOKEN`. */
  readonly token: Backend<{ readonly authToken: Redacted.Redacted | null }>
  /** `sudoPassword` is given for the first try only. */
  readonly mesh: Backend<{ readonly port: number; readonly sudoPassword: Redacted.Redacted | null }>
  readonly ssh: Backend<SshOptions>
}

export class Backends extends Context.Tag("gateway/net/tunnels/Backends")<Backends, BackendsShape>() {}
