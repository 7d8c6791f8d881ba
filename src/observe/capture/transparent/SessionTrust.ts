/** Trust in the authority of a session. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"

/** The authority could not be put into the trust store. `problem` is a sentence. */
export class TrustFailed extends Data.TaggedError("TransparentTrustFailed")<{ readonly problem: string }> {}

export class SessionTrust extends Context.Tag("gateway/observe/capture/transparent/SessionTrust")<
  SessionTrust,
  {
    /** Installs the certificate until the scope closes. The password is for `sudo`, where the gateway is not root. */
    readonly install: (
      certificate: string,
      sudoPassword: Redacted.Redacted | null
    ) => Effect.Effect<void, TrustFailed, Scope.Scope>
  }
>() {}
