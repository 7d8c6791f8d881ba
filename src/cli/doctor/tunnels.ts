/** Checks of `gateway doctor` for the tunnels of a gateway that runs. */
import * as Effect from "effect/Effect"
import type { TunnelView } from "../../subjects/tunnels/routes.ts"
import * as Client from "../gateway/Client.ts"
import * as Finding from "./Finding.ts"

/**
 * Judges the tunnels: those that should be open and are not deserve a look; none fails the check, as the gateway serves
 * without them.
 */
export const judge = (tunnels: ReadonlyArray<TunnelView>): Finding.Finding => {
  const wanted = tunnels.filter(({ phase }) => phase !== "stopped")
  if (wanted.length === 0) return Finding.ok("No tunnel is open")
  const shown = wanted
    .map(({ apiUrl, backend, lastError, phase, running }) =>
      running ? `${backend} is open at ${apiUrl ?? "an unknown address"}` : `${backend}: ${lastError ?? phase}`
    )
    .join("; ")
  const broken = wanted.find(({ phase }) => phase === "error" || phase === "needs_auth")
  if (broken !== undefined) {
    return Finding.warn(
      shown,
      `'gateway tunnel status ${broken.backend}' says more; 'gateway tunnel create ${broken.backend}' tries again.`
    )
  }
  const keyless = wanted.find(({ allowKeyless }) => allowKeyless)
  return keyless === undefined
    ? Finding.ok(shown)
    : Finding.warn(
        `${shown}; the ${keyless.backend} tunnel may answer without an API key`,
        "Require keys with 'gateway flags set REQUIRE_API_KEY true' unless everybody may use your accounts."
      )
}

export const tunnels = (to: Client.Target): Effect.Effect<Finding.Finding> =>
  Client.group(to, "tunnels").pipe(
    Effect.flatMap((client) => client.list().pipe(Client.orExplain(to))),
    Effect.map(({ tunnels: found }) => judge(found)),
    Effect.catchAll(({ message }) =>
      Effect.succeed(Finding.skip(`The gateway was not asked for its tunnels: ${message}`))
    )
  )
