/** The address of the gateway at which issuers send browsers back. */
import * as Effect from "effect/Effect"
import { AppConfig } from "../../platform/AppConfig.ts"
import type { RequestHeaders } from "../../subjects/auth/Credentials.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { returnBase } from "../../subjects/signIn/ReturnAddress.ts"

/** Makes what finds it for a request; null: the settings do not know the host of the request. */
export const returnBaseOf = Effect.gen(function* () {
  const { publicUrl, signInUrl } = yield* AppConfig
  const settings = yield* GatewaySettings
  return (headers: RequestHeaders): string | null =>
    returnBase(headers, {
      signInUrl: signInUrl === publicUrl ? null : signInUrl,
      allowedHosts: settings.allowedHosts()
    })
})
